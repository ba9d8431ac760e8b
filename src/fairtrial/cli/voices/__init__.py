"""How the verbs that serve tell what happens: one module each."""
