// text.test.ts - numbers and names as people see them, and the words of a query.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compile, exactly } from '../src/source/query';
import { byCategory, byName, hashName } from '../src/text/colour';
import * as format from '../src/text/format';
import { middle, plain, telling, withoutTemplates } from '../src/text/label';
import { HOSTILE } from './synth';

const bare = (s: string): string => s.replace(/\u202f/g, ' ');

test('times have four digits and one unit', () => {
	for (const [ns, want] of [
		[0, '0 ns'],
		[7, '7 ns'],
		[999, '999 ns'],
		[999.97, '1.000 µs'],
		[1000, '1.000 µs'],
		[64670, '64.67 µs'],
		[187e3, '187.0 µs'],
		[999_996, '1.000 ms'],
		[8.874e6, '8.874 ms'],
		[15.86e9, '15.86 s'],
		[3600e9, '3600 s'],
		[-1500, '−1.500 µs'],
		[-7, '−7 ns'],
		[NaN, '–'],
		[1.5, '1.500 ns'],
	] as const)
		assert.equal(bare(format.time(ns)), want);
	assert.equal(bare(format.exact(24_873_008)), '0.024 873 008 s');
	assert.equal(bare(format.exact(12_345_678_901_234)), '12 345.678 901 234 s');
	assert.equal(format.utc('1794792313000000000', 24_873_008), '2026-11-16 01:25:13.024873008 UTC');
	assert.equal(format.utc('0', 5), null);
});

test('counts, shares, bytes', () => {
	assert.equal(bare(format.count(2113024)), '2 113 024');
	assert.equal(bare(format.percent(0.8612)), '86.1 %');
	assert.equal(bare(format.bytes(134e6)), '134.0 MB');
	assert.equal(bare(format.bytes(60)), '60 B');
	assert.equal(bare(format.bytes(60, 3)), '60 B');
	assert.equal(bare(format.bytes(0.5)), '0.500 B');
	assert.equal(format.short(225_500), '226k');
	assert.equal(bare(format.tick(2_600_000, 200_000, 1_800_000)), '2.6 ms');
	assert.equal(bare(format.tick(2_600_050, 50, 900)), '2 600 050 ns');
	assert.equal(bare(format.tick(5_252_700_000, 100_000, 620_800)), '5 252 700 µs');
	assert.equal(format.step(1.83e6, 11), 200_000);
	for (const [v, want] of [
		[20_512_345.6, '20 512 346'],
		[80_633.4, '80 633'],
		[3495.2, '3 495'],
		[91.5, '91.50'],
		[0.002788, '0.002788'],
		[1.5e15, '1.500e+15'],
	] as const)
		assert.equal(bare(format.number(v)), want);
	assert.equal(bare(format.between(0, 5_956_000_000)), '0 ns to 5.956 s');
	assert.equal(bare(format.between(5_252_673_204, 5_253_294_016)), '5.252 673 204 s + 620.8 µs');
	assert.equal(format.many(1, 'row'), '1 row');
});

test('a long C++ function is called as people call it', () => {
	for (const [name, want] of [
		[
			'void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float, false>(int, float)',
			'vectorized_layer_norm_kernel<float, float, false>',
		],
		[
			'void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::func_wrapper_t<float, at::native::sum_functor<float>::operator()(at::TensorIterator&)> > >(int)',
			'reduce_kernel<512, 1, ReduceOp<float, func_wrapper_t<float, sum_functor<float>::operator()(TensorIterator&)> > >',
		],
		[
			'void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl_nocast<at::native::AddFunctor<float> > >(int)',
			'elementwise_kernel<128, 2, gpu_kernel_impl_nocast<AddFunctor<float> > >',
		],
		[
			'std::vector<std::string, std::allocator<std::string>>::push_back(std::string const&)',
			'vector<string, allocator<string>>::push_back',
		],
		['llvm::orc::ExecutionSession::lookup(llvm::orc::LookupKind, bool)', 'ExecutionSession::lookup'],
		[
			'ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)',
			'ncclDevKernel_AllReduce_Sum_f32_RING_LL',
		],
		['f(int)', null],
		['void at::native::Something::operator()(float, float, long, long)', null],
		['some::name::space::operator new(unsigned long, unsigned long)', null],
		['autograd::engine::evaluate_function: AddmmBackward0 and more of it', null],
		['torch/nn/modules/module.py(1740): _call_impl of something', null],
		['run(int)::{lambda(float)#1}::call(float, double, unsigned long)', null],
		['a < b and then (some words in brackets, which never end', null],
	] as const)
		assert.equal(telling(name), want ?? name);
});

test('names are one line of plain text', () => {
	for (const name of HOSTILE) {
		const shown = plain(name);

		assert.doesNotMatch(
			shown,
			/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/,
		);
		assert.ok(shown.length > 0 && shown.length <= 4097);
	}
	assert.equal(plain('a\u0000b'), 'a\u2400b');
	assert.equal(
		withoutTemplates('std::vector<std::map<int, long>>::push_back(T)'),
		'std::vector::push_back(T)',
	);
	assert.equal(withoutTemplates('a < b'), 'a ');
	assert.equal(middle('abcdefghij', 5), 'ab…ij');
});

test('colours are stable and mean something', () => {
	assert.equal(hashName('kernel_12'), hashName('kernel_7'));
	assert.equal(hashName('f<int>'), hashName('f<long>'));
	assert.equal(byName('abc'), byName('abc'));
	assert.equal(byCategory('nvjet_sm90_tst', 'kernel'), 0);
	assert.equal(
		byCategory('aten::addmm', 'cpu_op'),
		byCategory('nvjet_sm90_tst', 'kernel'),
		'an op has the colour of its kernel',
	);
	assert.equal(byCategory('ncclDevKernel_AllReduce', 'kernel'), 4);
	assert.equal(byCategory('train_step', 'python'), 8);
	assert.equal(byCategory('cudaLaunchKernel', 'cuda_runtime'), 7);
	assert.equal(byCategory('forward', 'task'), 3);
});

test('words of a query', () => {
	const names = (q: string, list: string[]) => list.filter(n => compile(q).type(n, 'kernel'));

	assert.deepEqual(names('ADD mul', ['add_mul', 'add', 'mul add']), ['add_mul', 'mul add']);
	assert.deepEqual(names('"a b"', ['a b', 'a b c']), ['a b']);
	assert.deepEqual(names('-add', ['add', 'mul']), ['mul']);
	assert.deepEqual(names('/^a.c$/', ['abc', 'abcd']), ['abc']);
	assert.deepEqual(names('cat:kern x', ['x']), ['x']);
	assert.deepEqual(names('cat:python x', ['x']), []);
	assert.deepEqual(names('aten::mul', ['aten::mul', 'mul']), ['aten::mul']);
	assert.deepEqual(names('', ['x']), ['x']);
	assert.match(compile('/(/').error, /no regular expression/);
	assert.match(compile('rank:x').error, /no number/);
	const dur = (q: string, d: number) => compile(q).event!({ dur: d, arg: () => undefined });

	assert.deepEqual(
		[
			dur('dur:>40us', 40001),
			dur('dur:>40us', 40000),
			dur('dur:1ms..2ms', 1.5e6),
			dur('dur:..2ms', 3e6),
			dur('-dur:>1s', 5),
			compile('self:>=20ns').self!(20),
		],
		[true, false, true, false, true, true],
	);
	for (const name of HOSTILE.filter(n => n && n.length < 1000))
		assert.ok(compile(exactly(name)).type(name, ''), JSON.stringify(name));
});

test('energy and power have the prefix that they need', () => {
	for (const [v, want] of [
		[0, '0 J'],
		[1.812e-5, '18.12 µJ'],
		[0.008242, '8.242 mJ'],
		[3.5, '3.500 J'],
		[-2.5e4, '−25.00 kJ'],
	] as const)
		assert.equal(bare(format.si(v, 'J')), want);
});

test('a change is a share, or how many times as much it is', () => {
	for (const [share, want] of [
		[-0.296, '−29.6 %'],
		[0, '0.0 %'],
		[9.99, '+999.0 %'],
		[1405.719, '× 1407'],
	] as const)
		assert.equal(bare(format.change(share)), want);
});

test('sentences of commands have the units of the page', () => {
	assert.equal(bare(format.sentence('runs 5.810 us, and us')), 'runs 5.810 µs, and us');
});
