"""A GGUF file's header read, changed and written again, for tests. The weights stay as they are."""
import struct

SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
U16, U32, I32, F32, BOOL, STRING, ARRAY, U64, I64 = 2, 4, 5, 6, 7, 8, 9, 10, 11


def _string(text):
    text = text.encode() if isinstance(text, str) else text
    return struct.pack("<Q", len(text)) + text


def _value(kind, value):
    if kind == STRING:
        return _string(value)
    if kind == ARRAY:
        inner, values = value
        return struct.pack("<IQ", inner, len(values)) + b"".join(_value(inner, v) for v in values)
    return struct.pack("<" + SCALARS[kind], value)


class GgufFile:
    """`meta`: name to (type, value), an array's value being (type, values). `tensors`: name to
    (extents, type, bytes). Both keep their order."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self._data, self._at = file.read(), 4
        self.version, tensors, keys = self._number("I"), self._number("Q"), self._number("Q")
        self.meta, self.tensors = {}, {}
        for _ in range(keys):
            key, kind = self._text().decode(), self._number("I")
            self.meta[key] = (kind, self._read(kind))
        places = []
        for _ in range(tensors):
            name = self._text().decode()
            extents = [self._number("Q") for _ in range(self._number("I"))]
            places.append((name, extents, self._number("I"), self._number("Q")))
        begin = (self._at + 31) // 32 * 32
        ends = sorted(place[3] for place in places)[1:] + [len(self._data) - begin]
        for end, (name, extents, kind, offset) in zip(ends, sorted(places, key=lambda p: p[3])):
            self.tensors[name] = (extents, kind, self._data[begin + offset:begin + end])

    def _number(self, form):
        self._at += struct.calcsize("<" + form)
        return struct.unpack_from("<" + form, self._data, self._at - struct.calcsize("<" + form))[0]

    def _text(self):
        length = self._number("Q")
        self._at += length
        return self._data[self._at - length:self._at]

    def _read(self, kind):
        if kind == STRING:
            return self._text()
        if kind == ARRAY:
            inner, count = self._number("I"), self._number("Q")
            return inner, [self._read(inner) for _ in range(count)]
        return self._number(SCALARS[kind])

    def add_floats(self, name, values):
        self.tensors[name] = ([len(values)], 0, struct.pack(f"<{len(values)}f", *values))

    def bytes(self, order="<"):
        head = b"GGUF" + struct.pack(order + "I", self.version)
        head += struct.pack("<QQ", len(self.tensors), len(self.meta))
        for key, (kind, value) in self.meta.items():
            head += _string(key) + struct.pack("<I", kind) + _value(kind, value)
        body = b""
        for name, (extents, kind, data) in self.tensors.items():
            head += _string(name) + struct.pack("<I", len(extents))
            head += struct.pack(f"<{len(extents)}Q", *extents) + struct.pack("<IQ", kind, len(body))
            body += data + b"\0" * (-len(data) % 32)
        return head + b"\0" * (-len(head) % 32) + body
