"""Which icons does somebody look at, to judge the first hits of rankers?"""
