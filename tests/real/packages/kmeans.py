"""scikit-learn with Intel's extension: k-means runs in oneDAL, on TBB."""
import numpy
from sklearnex.cluster import KMeans

points = numpy.random.default_rng(0).random((5000, 8)).astype(numpy.float32)
print(KMeans(4, n_init=1, random_state=0).fit(points).cluster_centers_.shape)
