"""Where the bodies of a recording are at any time, by an evaluation in numpy."""

import numpy as np


def moments(body):
    """Points, or bones, of a body from moment to moment."""
    return body["moments"]["moments"] if isinstance(body["moments"], dict) else body["moments"]


def at_moment(body, number):
    """Points [m]: those that are there, or those that bones hold."""
    if not isinstance(body["moments"], dict):
        return np.array(body["moments"][number])
    skin, moment = body["moments"], body["moments"]["moments"][number]
    points = np.array(skin["rest"])
    for morph, part in zip(skin["morphs"], moment["morphs"]):
        if morph["points"]:
            points[morph["points"]] += part * np.array(morph["ways"])
    bones = np.array([np.ravel(bone) for bone in moment["bones"]]).reshape(-1, 4, 3)
    holder = np.repeat(np.arange(len(points)), np.diff([0, *skin["ends"]]))
    bone = np.array([share["bone"] for share in skin["shares"]])
    weight = np.array([share["weight"] for share in skin["shares"]])
    held = np.einsum("sa,sab->sb", points[holder], bones[bone, :3]) + bones[bone, 3]
    out = np.zeros_like(points)
    np.add.at(out, holder, weight[:, None] * held)
    return out


def deformed(body, time):
    """Points at a time [s]: on straight lines between moments."""
    pace, last = body["pace"], len(moments(body)) - 1
    passed = max((time - pace["start"]) / pace["interval"], 0)
    passed = passed % last if pace["repeats"] else min(passed, last)
    number = min(int(passed), last)
    a, b = at_moment(body, number), at_moment(body, min(number + 1, last))
    return a + (passed - number) * (b - a)


def placed(points, pose):
    """Points under a pose: position, and rotation as x y z w."""
    q = pose[3:6]
    turned = points + 2 * np.cross(q, np.cross(q, points) + pose[6] * points)
    return turned + pose[:3]


def deforming(about):
    """What a recording says of a body that deforms, or None."""
    shape = about["shape"]
    if not isinstance(shape, dict):
        return None
    body = next((s for s in (shape, *shape.values()) if isinstance(s, dict) and "pace" in s), None)
    return body if body and len(moments(body)) > 1 else None
