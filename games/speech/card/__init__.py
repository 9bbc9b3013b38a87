"""The picture that goes with a shared link: fixed words, two languages, nothing about anybody.

``drawing`` makes it from one template, ``build`` writes it (and the font cut down to its words) into the
repository: what is served is a static file, so nobody waits for a drawing and no font is needed on a server.
"""
