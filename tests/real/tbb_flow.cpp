// tbb_flow.cpp - what a oneTBB program does: a flow graph, loops, a task group, a pipeline.
// Prints the numbers that it computed: tracing must not change them.
#include <atomic>
#include <cstdio>
#include <functional>
#include <numeric>
#include <vector>

#define TBB_PREVIEW_FLOW_GRAPH_TRACE 1
#define TBB_USE_PROFILING_TOOLS      2 // what is only a header's work: nodes, edges, bodies
#include <oneapi/tbb.h>

namespace flow = oneapi::tbb::flow;

// source -> square, cube -> add: 20 messages, so 80 bodies run.
static int graph_sum(void)
{
	flow::graph g;
	int next = 1, sum = 0;

	flow::input_node<int> source(g, [&](oneapi::tbb::flow_control &fc) {
		if (next > 20) {
			fc.stop();
			return 0;
		}
		return next++;
	});
	flow::function_node<int, int> square(g, flow::unlimited, [](int v) { return v * v; });
	flow::function_node<int, int> cube(g, flow::unlimited, [](int v) { return v * v * v; });
	flow::join_node<std::tuple<int, int>> join(g);
	flow::function_node<std::tuple<int, int>, int> add(
		g, flow::serial, [&](const std::tuple<int, int> &v) {
			return sum += std::get<0>(v) + std::get<1>(v);
		});

	set_name(g, "powers");
	set_name(square, "square");
	set_name(cube, "cube");

	flow::make_edge(source, square);
	flow::make_edge(source, cube);
	flow::make_edge(square, flow::input_port<0>(join));
	flow::make_edge(cube, flow::input_port<1>(join));
	flow::make_edge(join, add);
	source.activate();
	g.wait_for_all();
	return sum;
}

static long loop_sum(void)
{
	std::vector<long> v(100000, 1);

	oneapi::tbb::parallel_for(oneapi::tbb::blocked_range<size_t>(0, v.size(), 10000),
				  [&](const oneapi::tbb::blocked_range<size_t> &r) {
					  for (size_t i = r.begin(); i < r.end(); i++)
						  v[i] += (long)i;
				  });
	return oneapi::tbb::parallel_reduce(
		oneapi::tbb::blocked_range<size_t>(0, v.size(), 10000), 0L,
		[&](const oneapi::tbb::blocked_range<size_t> &r, long sum) {
			return std::accumulate(v.begin() + r.begin(), v.begin() + r.end(), sum);
		},
		std::plus<long>());
}

static int group_sum(void)
{
	oneapi::tbb::task_group group;
	std::atomic<int> sum(0);

	for (int i = 0; i < 10; i++)
		group.run([&sum, i] { sum += i; });
	group.wait();
	return sum;
}

static int pipeline_sum(void)
{
	int next = 0, sum = 0;

	oneapi::tbb::parallel_pipeline(
		4, oneapi::tbb::make_filter<void, int>(oneapi::tbb::filter_mode::serial_in_order,
						       [&](oneapi::tbb::flow_control &fc) {
							       if (next == 10)
								       fc.stop();
							       return next++;
						       }) &
			   oneapi::tbb::make_filter<int, int>(oneapi::tbb::filter_mode::parallel,
							      [](int v) { return v * 2; }) &
			   oneapi::tbb::make_filter<int, void>(
				   oneapi::tbb::filter_mode::serial_in_order,
				   [&](int v) { sum += v; }));
	return sum;
}

int main()
{
	oneapi::tbb::global_control two(oneapi::tbb::global_control::max_allowed_parallelism, 2);

	std::printf("graph %d\n", graph_sum());
	std::printf("loop %ld\n", loop_sum());
	std::printf("group %d\n", group_sum());
	std::printf("pipeline %d\n", pipeline_sum());
	return 0;
}
