"""Attention inside of windows of an image of any size, in the manner of a hierarchical backbone.

The sizes are padded to multiples of a window, shifted round, masked by slices that count from the
end, cut into windows, put together again, cropped, and halved where odd ones are padded first.
"""

from __future__ import annotations

import dy2st
from dy2st import nn

F = nn.functional


def cut(x, size):
    """The windows of an image, one after the other."""
    batch, height, width, channels = x.shape
    x = x.reshape([batch, height // size, size, width // size, size, channels])
    return x.transpose([0, 1, 3, 2, 4, 5]).reshape([-1, size, size, channels])


def joined(windows, size, height, width):
    """The image of all windows."""
    batch = windows.shape[0] // (height * width // size // size)
    x = windows.reshape([batch, height // size, width // size, size, size, -1])
    return x.transpose([0, 1, 3, 2, 4, 5]).reshape([batch, height, width, -1])


def padded(x, below, right):
    """The image, longer and wider."""
    return F.pad(x.transpose([0, 3, 1, 2]), [0, right, 0, below]).transpose([0, 2, 3, 1])


class Attention(nn.Layer):
    """Attention of one head inside of windows, some of whose places may not see each other."""

    def __init__(self, width):
        super().__init__()
        self.all, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x, mask):
        count, places, width = x.shape
        q, k, v = self.all(x).reshape([count, places, 3, width]).transpose([2, 0, 1, 3])
        scores = dy2st.matmul(q, k.transpose([0, 2, 1]))
        if mask is not None:
            of_image = mask.shape[0]
            scores = scores.reshape([count // of_image, of_image, places, places]) + mask
            scores = scores.reshape([-1, places, places])
        return self.out(dy2st.matmul(F.softmax(scores, axis=-1), v))


class Block(nn.Layer):
    """Attention inside of windows, which may be shifted."""

    def __init__(self, width, size, shift):
        super().__init__()
        self.size, self.shift = size, shift
        self.norm, self.attention = nn.LayerNorm(width), Attention(width)

    def forward(self, x, height, width, mask):
        batch, length, channels = x.shape
        assert length == height * width, "the length is that of the image"
        image = self.norm(x).reshape([batch, height, width, channels])
        right = (self.size - width % self.size) % self.size
        below = (self.size - height % self.size) % self.size
        image = padded(image, below, right)
        _, rows, columns, _ = image.shape
        if self.shift > 0:
            image = dy2st.roll(image, shifts=(-self.shift, -self.shift), axis=(1, 2))
        windows = cut(image, self.size).reshape([-1, self.size * self.size, channels])
        windows = self.attention(windows, mask if self.shift > 0 else None)
        windows = windows.reshape([-1, self.size, self.size, channels])
        image = joined(windows, self.size, rows, columns)
        if self.shift > 0:
            image = dy2st.roll(image, shifts=(self.shift, self.shift), axis=(1, 2))
        if right > 0 or below > 0:
            image = image[:, :height, :width, :]
        return x + image.reshape([batch, height * width, channels])


class Stage(nn.Layer):
    """A plain and a shifted block; all but the last stage halve the image."""

    def __init__(self, width, size, is_last):
        super().__init__()
        self.size, self.shift = size, size // 2
        self.blocks = nn.LayerList([Block(width, size, shift) for shift in (0, size // 2)])
        self.half = None if is_last else nn.Linear(4 * width, 2 * width)

    def mask(self, height, width):
        rows, columns = -(-height // self.size) * self.size, -(-width // self.size) * self.size
        parts = dy2st.zeros((1, rows, columns, 1))
        ends = (slice(0, -self.size), slice(-self.size, -self.shift), slice(-self.shift, None))
        for number, (down, right) in enumerate((d, r) for d in ends for r in ends):
            parts[:, down, right, :] = number
        parts = cut(parts, self.size).reshape([-1, self.size * self.size])
        return -100.0 * (parts.unsqueeze(1) != parts.unsqueeze(2)).astype("float32")

    def halved(self, x, height, width):
        batch, length, channels = x.shape
        assert length == height * width, "the length is that of the image"
        image = x.reshape([batch, height, width, channels])
        if (height % 2 == 1) or (width % 2 == 1):
            image = padded(image, height % 2, width % 2)
        parts = [image[:, down::2, right::2, :] for right in (0, 1) for down in (0, 1)]
        return self.half(dy2st.concat(parts, -1).reshape([batch, -1, 4 * channels]))

    def forward(self, x, height, width):
        mask = self.mask(height, width)
        for block in self.blocks:
            x = block(x, height, width, mask)
        if self.half is None:
            return x, x, height, width
        return x, self.halved(x, height, width), (height + 1) // 2, (width + 1) // 2


class Windows(nn.Layer):
    """Patches of an image, two stages, and an image of each."""

    def __init__(self, width=4, stages=2, size=3, patch=2):
        super().__init__()
        self.width, self.patch = width, patch
        self.embed = nn.Conv2D(1, width, patch, stride=patch)
        self.stages = nn.LayerList(
            [Stage(width << place, size, place == stages - 1) for place in range(stages)]
        )

    def forward(self, x):
        _, _, height, width = x.shape
        if width % self.patch != 0:
            x = F.pad(x, [0, self.patch - width % self.patch, 0, 0])
        if height % self.patch != 0:
            x = F.pad(x, [0, 0, 0, self.patch - height % self.patch])
        x = self.embed(x)
        _, _, height, width = x.shape
        x = x.flatten(2).transpose([0, 2, 1])
        images = []
        for place, stage in enumerate(self.stages):
            sizes = [-1, height, width, self.width << place]
            out, x, height, width = stage(x, height, width)
            images.append(out.reshape(sizes).transpose([0, 3, 1, 2]))
        return tuple(images)
