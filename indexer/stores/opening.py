"""A place as a person writes it -> its store: a folder, or what fsspec finds behind a URL."""

from indexer.stores.folder_store import FolderStore
from indexer.stores.patient_store import PatientStore
from indexer.stores.places import local_path, url_of
from indexer.stores.store import Store


def open_store(place: str) -> Store:
    """Open the store of a folder or URL, one that is asked again where it fails.

    Raises:
        StoreError: the URL's protocol is unknown, or what speaks it is not installed.
    """
    url = url_of(place)
    if url is None:
        return PatientStore(FolderStore(local_path(place).absolute()))
    from indexer.stores.object_store import open_object_store

    return PatientStore(open_object_store(url))
