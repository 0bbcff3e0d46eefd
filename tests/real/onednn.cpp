// onednn.cpp - one convolution and one matrix product, three times each, through oneDNN.
#include <cstdio>
#include <dnnl.hpp>
#include <vector>

using namespace dnnl;
using tag = memory::format_tag;
using dt = memory::data_type;

static void fill(memory &m, float value)
{
	float *p = static_cast<float *>(m.get_data_handle());

	for (size_t i = 0; i < m.get_desc().get_size() / sizeof(float); i++)
		p[i] = value;
}

int main()
{
	engine eng(engine::kind::cpu, 0);
	stream s(eng);

	memory::desc src_d({ 1, 8, 32, 32 }, dt::f32, tag::nchw);
	memory::desc wei_d({ 8, 8, 3, 3 }, dt::f32, tag::oihw);
	memory::desc dst_d({ 1, 8, 30, 30 }, dt::f32, tag::nchw);
	memory src(src_d, eng), wei(wei_d, eng), dst(dst_d, eng);
	fill(src, 1);
	fill(wei, 1);
	convolution_forward conv(convolution_forward::primitive_desc(
		convolution_forward::desc(prop_kind::forward_inference,
					  algorithm::convolution_direct, src_d, wei_d, dst_d,
					  { 1, 1 }, { 0, 0 }, { 0, 0 }),
		eng));

	memory::desc m_d({ 64, 64 }, dt::f32, tag::ab);
	memory a(m_d, eng), b(m_d, eng), c(m_d, eng);
	fill(a, 1);
	fill(b, 1);
	matmul mul(matmul::primitive_desc(matmul::desc(m_d, m_d, m_d), eng));

	for (int i = 0; i < 3; i++) {
		conv.execute(s, { { DNNL_ARG_SRC, src },
				  { DNNL_ARG_WEIGHTS, wei },
				  { DNNL_ARG_DST, dst } });
		mul.execute(s,
			    { { DNNL_ARG_SRC, a }, { DNNL_ARG_WEIGHTS, b }, { DNNL_ARG_DST, c } });
	}
	s.wait();
	std::printf("%.0f %.0f\n", *static_cast<float *>(dst.get_data_handle()),
		    *static_cast<float *>(c.get_data_handle()));
	return 0;
}
