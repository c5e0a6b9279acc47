"""How well icons are found and named in screens: ways of finding side by side, on screens whose icons are known."""
