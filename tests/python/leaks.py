"""Begins many ranges that never end, and goes on to say something about others.

    leaks.py COUNT
"""
import sys

import unitrace


def forget():
    unitrace.range("never").begin()


def speak(number):
    span = unitrace.overlapped("short")
    span.begin()
    span.metadata("number", number)
    span.end()


for i in range(int(sys.argv[1])):
    forget()
    speak(i)
