"""Sound without Django: read any file, find turns, even out loudness, align gaps, encode, describe.

What the floors above call::

    probe(path, *, max_seconds) -> Probe             decode.py    length, rate, channels, format, warnings
    decode(path, *, max_seconds) -> Decoded          decode.py    24 kHz float32, shape (n, 1 or 2)
    find_turns(samples, rate, *, hints) -> Found     activity.py  who speaks when, and how it was found
    process(decoded, turns, *, profile, seed, ...)   process.py   -> Processed(samples, turns, numbers)
    encode_mp3(samples) -> bytes                     encode.py    the one format everything is played in
    read_mp3(data) -> Mp3Info                        encode.py    frame by frame: exact length, constant rate
    peaks(samples) -> list[int]                      peaks.py     waveform for the desk alone

Samples are float32, nominally within ±1; times are seconds; loudness is LUFS, peaks are dBFS.
"""
