"""Checks the subjects of commits that no release has: their length, and the word they begin with.

``python tools/subjects.py [FOLDER]``; CONTRIBUTING.md says what a subject is. They are those since
the last tag of a release, or the newest `MOST` where there is none, merges left out. Where there is
no git, or no history, nothing is checked.
"""

import re
import subprocess
import sys
from pathlib import Path

LENGTH, MOST = 72, 20
RIDDLE = re.compile(r"(What|Whether|Where|How|Of)\b")


def git(folder, *arguments):
    """Lines that a command of git prints; none if it fails."""
    try:
        done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True)
    except FileNotFoundError:
        return []
    return done.stdout.splitlines() if done.returncode == 0 else []


def subjects(folder):
    """Short names and subjects of the commits to look at, newest first."""
    tag = git(folder, "describe", "--tags", "--abbrev=0", "--match", "v[0-9]*")
    which = [f"{tag[0]}..HEAD"] if tag else ["-n", str(MOST)]
    lines = git(folder, "log", "--no-merges", "--format=%h %s", *which)
    return [line.split(" ", 1) for line in lines]


def offence(subject):
    """Sentence on a subject that is none; None if it is one."""
    if len(subject) > LENGTH:
        return f"has {len(subject)} characters: {LENGTH} at most"
    if riddle := RIDDLE.match(subject):
        return f"begins with {riddle[1]}: begin with a noun or a verb in the third person"
    return None


def main(folder="."):
    """Name the offences; the status is 1 if there are any."""
    found = [(name, subject, offence(subject)) for name, subject in subjects(Path(folder))]
    found = [one for one in found if one[2]]
    for name, subject, sentence in found:
        print(f"lint: the subject of {name} {sentence}\n    {subject}", file=sys.stderr)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
