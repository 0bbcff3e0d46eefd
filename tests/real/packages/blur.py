"""OpenCV: four functions, ten times each."""
import cv2
import numpy

image = numpy.zeros((240, 320, 3), numpy.uint8)
image[60:180, 80:240] = 255
for _ in range(10):
    blurred = cv2.GaussianBlur(image, (7, 7), 1.5)
    grey = cv2.cvtColor(blurred, cv2.COLOR_BGR2GRAY)
    edges = cv2.Canny(grey, 50, 100)
    small = cv2.resize(edges, (80, 60))
print(small.shape, edges.any())
