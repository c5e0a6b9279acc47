"""Devices that take their time without computing: does the host keep fast ones busy, and many of them?"""
