"""What a transcript says beside its topic: pure rules, and ``services``, which writes them as flags."""
