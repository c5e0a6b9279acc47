"""Icons in screenshots, and where they are used: asked."""
