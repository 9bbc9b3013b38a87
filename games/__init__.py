"""The games people play: each activity is its own small Django app in here."""
