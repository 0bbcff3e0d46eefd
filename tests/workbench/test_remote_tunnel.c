/* test_remote_tunnel.c - tests src/app/workbench/remote_tunnel.h: two sides that hand pieces to
 * each other, and a connection on each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/unit.h"
#include "workbench/remote_tunnel.h"

struct sides {
	struct ut_tunnels here, there;
	int who, viewer; /* the far ends of the connections */
};

static void to_there(void *ctx, uint64_t number, struct ut_str bytes)
{
	ut_tunnels_take(&((struct sides *)ctx)->there, number, bytes);
}

static void to_here(void *ctx, uint64_t number, struct ut_str bytes)
{
	ut_tunnels_take(&((struct sides *)ctx)->here, number, bytes);
}

static void move(struct sides *s)
{
	for (int i = 0; i < 4; i++) {
		ut_tunnels_move(&s->here, to_there, s);
		ut_tunnels_move(&s->there, to_here, s);
	}
}

static void open_sides(struct sides *s)
{
	int a[2], b[2];

	memset(s, 0, sizeof(*s));
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, a), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, b), 0);
	assert_true(ut_tunnels_add(&s->here, 7, a[1]));
	assert_true(ut_tunnels_add(&s->there, 7, b[1]));
	s->who = a[0];
	s->viewer = b[0];
}

static void close_sides(struct sides *s)
{
	ut_tunnels_release(&s->here);
	ut_tunnels_release(&s->there);
	close(s->who);
	close(s->viewer);
}

static void a_question_and_its_answer(void **state)
{
	struct sides s;
	char got[16] = "";

	(void)state;
	open_sides(&s);
	assert_int_equal(write(s.who, "question", 8), 8);
	move(&s);
	assert_int_equal(read(s.viewer, got, sizeof(got)), 8);
	assert_memory_equal(got, "question", 8);
	assert_int_equal(write(s.viewer, "answer", 6), 6);
	close(s.viewer);
	s.viewer = dup(s.who);
	move(&s);
	assert_int_equal(read(s.who, got, sizeof(got)), 6);
	assert_memory_equal(got, "answer", 6);
	assert_int_equal(read(s.who, got, sizeof(got)), 0);
	assert_false(ut_tunnels_has(&s.here, 7));
	assert_false(ut_tunnels_has(&s.there, 7));
	close_sides(&s);
}

static void who_goes_away_ends_it_on_the_other_side(void **state)
{
	struct sides s;
	char got;

	(void)state;
	open_sides(&s);
	close(s.who);
	s.who = dup(s.viewer);
	move(&s);
	assert_int_equal(recv(s.viewer, &got, 1, MSG_DONTWAIT), 0);
	assert_false(ut_tunnels_has(&s.here, 7));
	close_sides(&s);
}

static void who_does_not_read_loses_his_connection(void **state)
{
	static char piece[UT_TUNNEL_PIECE];
	struct sides s;

	(void)state;
	open_sides(&s);
	for (size_t sent = 0; sent <= UT_TUNNEL_WAITING + sizeof(piece); sent += sizeof(piece))
		ut_tunnels_take(&s.here, 7, (struct ut_str){ piece, sizeof(piece) });
	move(&s);
	assert_false(ut_tunnels_has(&s.here, 7));
	assert_false(ut_tunnels_has(&s.there, 7));
	close_sides(&s);
}

static void there_are_only_so_many(void **state)
{
	struct ut_tunnels t = { 0 };
	struct pollfd p[UT_TUNNELS_MAX];

	(void)state;
	for (uint64_t i = 1; i <= UT_TUNNELS_MAX; i++)
		assert_true(ut_tunnels_add(&t, i, dup(0)));
	assert_false(ut_tunnels_add(&t, 1, dup(0)));
	assert_false(ut_tunnels_add(&t, UT_TUNNELS_MAX + 1, dup(0)));
	assert_false(ut_tunnels_add(&t, 0, dup(0)));
	ut_tunnels_take(&t, 12345, ut_str_of("nobody has that number"));
	ut_tunnels_poll(&t, p);
	for (size_t i = 0; i < UT_TUNNELS_MAX; i++)
		assert_true(p[i].fd >= 0);
	ut_tunnels_release(&t);
	ut_tunnels_poll(&t, p);
	assert_int_equal(p[0].fd, -1);
}

UT_TESTS(remote_tunnel)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_question_and_its_answer),
		cmocka_unit_test(who_goes_away_ends_it_on_the_other_side),
		cmocka_unit_test(who_does_not_read_loses_his_connection),
		cmocka_unit_test(there_are_only_so_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
