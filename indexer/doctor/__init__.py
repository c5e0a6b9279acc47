"""x"""


class R:
    findings = []


def examine_library(library, sample):
    return R
