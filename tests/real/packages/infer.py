"""OpenVINO: a model of one convolution, compiled for the CPU and asked five times."""
import numpy
import openvino
from openvino import opset13 as op

x = op.parameter([1, 3, 16, 16], numpy.float32, name="x")
weights = op.constant(numpy.ones((4, 3, 3, 3), numpy.float32))
y = op.relu(op.convolution(x, weights, [1, 1], [1, 1], [1, 1], [1, 1]))
model = openvino.Model([op.result(y)], [x], "small")
request = openvino.Core().compile_model(model, "CPU").create_infer_request()
for _ in range(5):
    request.infer({0: numpy.ones((1, 3, 16, 16), numpy.float32)})
print(int(request.get_output_tensor(0).data.sum()))
