"""Which icons does source code name, and where? And is there such an icon?"""
