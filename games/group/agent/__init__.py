"""The agent's seat: it sees what a player sees, thinks, waits as long as typing takes, writes like a player.

``view``: what it sees. ``thinking``: the seam behind which a script or a language model decides. ``loop``:
one turn. ``running``: which process plays which game. ``trace``: what is kept of it, for researchers.
"""
