"""When has an improvement loop stopped improving?"""
