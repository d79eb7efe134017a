# SPDX-License-Identifier: MIT
"""Small networks with random weights of kinds that the zoo has few of: many concatenations, parallel branches, paddings."""

from made_graph import Graph, ints, values


def weights(*shape):
    return values("f32", shape)


def ones(channels):
    return abs(weights(channels)) + 0.5


def conv(g, x, inputs, outputs, extent, stride=1, pad=None, bias=False):
    pad = extent // 2 if pad is None else pad
    more = [weights(outputs)] if bias else []
    w = weights(outputs, inputs, extent, extent) / (inputs * extent * extent) ** 0.5
    return g.Conv(x, w, *more, strides=[stride] * 2, pads=[pad] * 4)


def normalised(g, x, channels):
    return g.BatchNormalization(x, ones(channels), weights(channels), weights(channels), ones(channels))


def classified(g, x, channels):
    return g.Gemm(g.Flatten(g.GlobalAveragePool(x)), weights(10, channels), weights(10), transB=1)


def densely_connected(g):
    """DenseNet: each layer reads the outputs of all before it, concatenated."""
    growth, channels = 12, 24
    x = g.Relu(normalised(g, conv(g, g.input("f32", 1, 3, 64, 64), 3, channels, 7, stride=2), channels))
    x = g.MaxPool(x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    for block in range(3):
        features = [x]
        for _ in range(6):
            y = g.Concat(*features, axis=1) if len(features) > 1 else x
            y = conv(g, g.Relu(normalised(g, y, channels)), channels, 4 * growth, 1)
            features.append(conv(g, g.Relu(normalised(g, y, 4 * growth)), 4 * growth, growth, 3))
            channels += growth
        x = g.Relu(normalised(g, g.Concat(*features, axis=1), channels))
        if block < 2:
            x = g.AveragePool(conv(g, x, channels, channels // 2, 1), kernel_shape=[2, 2], strides=[2, 2])
            channels //= 2
    return classified(g, x, channels)


def parallel_convolutions(g):
    """RepVGG as it is trained: 3x3, 1x1 and, where shapes allow, nothing but a normalisation, added up."""
    x, channels = g.input("f32", 1, 3, 64, 64), 3
    for blocks, outputs in ((1, 16), (2, 24), (4, 48), (2, 96)):
        for block in range(blocks):
            stride = 2 if block == 0 else 1
            y = g.Add(normalised(g, conv(g, x, channels, outputs, 3, stride), outputs),
                      normalised(g, conv(g, x, channels, outputs, 1, stride), outputs))  # fmt: skip
            if stride == 1:
                y = g.Add(y, normalised(g, x, outputs))
            x, channels = g.Relu(y), outputs
    return classified(g, x, channels)


def inception(g):
    """GoogLeNet: four branches of one input, side by side in one output."""
    x, channels = g.Relu(conv(g, g.input("f32", 1, 3, 64, 64), 3, 32, 7, stride=2, bias=True)), 32
    x = g.MaxPool(x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    for one, reduced3, three, reduced5, five, pooled in ((16, 24, 32, 4, 8, 8), (32, 32, 48, 8, 24, 16)) * 3:

        def branch(y, inputs, outputs, extent):
            return g.Relu(conv(g, y, inputs, outputs, extent, bias=True))

        pool = g.MaxPool(x, kernel_shape=[3, 3], pads=[1] * 4)
        x = g.Concat(
            branch(x, channels, one, 1),
            branch(branch(x, channels, reduced3, 1), reduced3, three, 3),
            branch(branch(x, channels, reduced5, 1), reduced5, five, 5),
            branch(pool, channels, pooled, 1),
            axis=1,
        )
        channels = one + three + five + pooled
    return classified(g, x, channels)


def image_to_image(g):
    """CycleGAN's generator: reflected borders, instance normalisation, residual blocks."""

    def reflected(x, n):
        return g.Pad(x, ints(0, 0, n, n, 0, 0, n, n), mode="reflect")

    def scaled(x, channels):
        return g.InstanceNormalization(x, ones(channels), weights(channels))

    channels = 16
    x = conv(g, reflected(g.input("f32", 1, 3, 64, 64), 3), 3, channels, 7, pad=0, bias=True)
    x = g.Relu(scaled(x, channels))
    for _ in range(2):
        x = g.Relu(scaled(conv(g, x, channels, 2 * channels, 3, stride=2, bias=True), 2 * channels))
        channels *= 2
    for _ in range(6):
        y = g.Relu(scaled(conv(g, reflected(x, 1), channels, channels, 3, pad=0, bias=True), channels))
        x = g.Add(x, scaled(conv(g, reflected(y, 1), channels, channels, 3, pad=0, bias=True), channels))
    for _ in range(2):
        w = weights(channels, channels // 2, 3, 3)
        channels //= 2
        x = g.ConvTranspose(x, w, weights(channels), strides=[2, 2], pads=[1] * 4, output_padding=[1, 1])
        x = g.Relu(scaled(x, channels))
    return g.Tanh(conv(g, reflected(x, 3), channels, 3, 7, pad=0, bias=True))


def made_networks():
    """Functions that return the models, by name."""

    def model(network):
        g = Graph()
        return g.model(network(g))

    networks = (densely_connected, parallel_convolutions, inception, image_to_image)
    return {network.__name__: lambda network=network: model(network) for network in networks}
