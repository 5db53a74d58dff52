/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares: each relation is stated as the set of orders for which it holds, and every type has a
 * pair of operands for each order.
 */
#include <stdio.h>

#include "tests/support/test.h"

#include "alu_test.h"

enum { LESS = 1, EQUAL = 2, GREATER = 4, UNORDERED = 8, ALL = 15 };

struct relation {
    const char *name;
    unsigned holds;
};

struct pair {
    uint64_t a, b;
    unsigned order;
};

struct type {
    const char *name;
    bool is_float;
    struct pair pairs[7];
};

static const struct relation float_relations[] = {
    {"f",   0                          },
    {"lt",  LESS                       },
    {"eq",  EQUAL                      },
    {"le",  LESS | EQUAL               },
    {"gt",  GREATER                    },
    {"lg",  LESS | GREATER             },
    {"ge",  GREATER | EQUAL            },
    {"o",   LESS | EQUAL | GREATER     },
    {"u",   UNORDERED                  },
    {"nge", LESS | UNORDERED           },
    {"nlg", EQUAL | UNORDERED          },
    {"ngt", LESS | EQUAL | UNORDERED   },
    {"nle", GREATER | UNORDERED        },
    {"neq", LESS | GREATER | UNORDERED },
    {"nlt", GREATER | EQUAL | UNORDERED},
    {"tru", ALL                        },
};

static const struct relation int_relations[] = {
    {"f",  0              },
    {"lt", LESS           },
    {"eq", EQUAL          },
    {"le", LESS | EQUAL   },
    {"gt", GREATER        },
    {"ne", LESS | GREATER },
    {"ge", GREATER | EQUAL},
    {"t",  ALL            },
};

/* Each order at least once; floats: zeros of both signs, infinities, NaN on either side. */
static const struct type types[] = {
    {"f16",
     true,  {{0x3c00, 0x4000, LESS},
      {0x8000, 0x0000, EQUAL},
      {0x7c00, 0x7bff, GREATER},
      {0x7e00, 0x3c00, UNORDERED},
      {0x3c00, 0xfe00, UNORDERED},
      {0x0001, 0x0002, LESS},
      {0xbc00, 0xc000, GREATER}}                        },
    {"f32",
     true,  {{0x3f800000, 0x40000000, LESS},
      {0x80000000, 0, EQUAL},
      {0x7f800000, 0x7f7fffff, GREATER},
      {0x7fc00000, 0, UNORDERED},
      {0, 0xff800001, UNORDERED},
      {1, 2, LESS},
      {0xbf800000, 0xc0000000, GREATER}}                },
    {"f64",
     true,  {{0x3ff0000000000000, 0x3ff0000000000001, LESS},
      {0x8000000000000000, 0, EQUAL},
      {0x7ff0000000000000, 0x7fefffffffffffff, GREATER},
      {0x7ff8000000000000, 0, UNORDERED},
      {0, 0xfff0000000000001, UNORDERED},
      {1, 2, LESS},
      {0xbff0000000000000, 0xc000000000000000, GREATER}}},
    {"i16",
     false, {{0xffff, 1, LESS},
      {5, 5, EQUAL},
      {7, 0x8000, GREATER},
      {0xfff0ffff, 0x0000ffff, EQUAL},
      {0x8000, 0x7fff, LESS},
      {2, 1, GREATER},
      {1, 2, LESS}}                                    },
    {"u16",
     false, {{0xffff, 1, GREATER},
      {5, 5, EQUAL},
      {7, 0x8000, LESS},
      {0xfff0ffff, 0x0000ffff, EQUAL},
      {0x8000, 0x7fff, GREATER},
      {2, 1, GREATER},
      {1, 2, LESS}}                                    },
    {"i32",
     false, {{0xffffffff, 1, LESS},
      {5, 5, EQUAL},
      {7, 0x80000000, GREATER},
      {0, 0, EQUAL},
      {0x80000000, 0x7fffffff, LESS},
      {2, 1, GREATER},
      {1, 2, LESS}}                                    },
    {"u32",
     false, {{0xffffffff, 1, GREATER},
      {5, 5, EQUAL},
      {7, 0x80000000, LESS},
      {0, 0, EQUAL},
      {0x80000000, 0x7fffffff, GREATER},
      {2, 1, GREATER},
      {1, 2, LESS}}                                    },
    {"i64",
     false, {{0xffffffffffffffff, 1, LESS},
      {5, 5, EQUAL},
      {0x100000000, 0xffffffff, GREATER},
      {0x1234567800000000, 0x1234567800000000, EQUAL},
      {0x8000000000000000, 0x7fffffffffffffff, LESS},
      {2, 1, GREATER},
      {1, 0x200000001, LESS}}                          },
    {"u64",
     false, {{0xffffffffffffffff, 1, GREATER},
      {5, 5, EQUAL},
      {0x100000000, 0xffffffff, GREATER},
      {0x1234567800000000, 0x1234567800000000, EQUAL},
      {0x8000000000000000, 0x7fffffffffffffff, GREATER},
      {2, 1, GREATER},
      {1, 0x200000001, LESS}}                          },
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

void alu_test_compare(void **state)
{
    for (size_t t = 0; t < COUNT(types); t++) {
        const struct relation *relations = types[t].is_float ? float_relations : int_relations;
        size_t count = types[t].is_float ? COUNT(float_relations) : COUNT(int_relations);
        for (size_t r = 0; r < 2 * count; r++) {
            const struct relation *relation = &relations[r / 2];
            char name[32];
            snprintf(name, sizeof name, "v_cmp%s_%s_%s", r % 2 ? "x" : "", relation->name,
                     types[t].name);
            struct alu_case cases[COUNT(types[0].pairs)];
            memset(cases, 0, sizeof cases);
            for (size_t p = 0; p < COUNT(cases); p++) {
                const struct pair *pair = &types[t].pairs[p];
                cases[p].mnemonic = name;
                cases[p].src[0] = pair->a;
                cases[p].src[1] = pair->b;
                cases[p].mask = relation->holds & pair->order ? MASK_1 : MASK_0;
            }
            alu_run(*state, cases, COUNT(cases));
        }
    }
    const struct alu_case modified[] = {
        {"v_cmp_eq_f32", S(1,          2),       .mask = MASK_1, .flush32 = 1   },
        {"v_cmp_eq_f32", S(F(-1.0F),   F(1.0F)), .mask = MASK_1, .abs = 1       },
        {"v_cmp_lt_f32", S(F(1.0F),    F(0.5F)), .mask = MASK_1, .neg = 1       },
        {"v_cmp_gt_f64", S(D(1.0),     D(-3.0)), .mask = MASK_0, .abs = 2       },
        {"v_cmp_eq_f16", S(0x3c000000, 0x3c00),  .mask = MASK_1, .op_sel = 1    },
        {"v_cmp_eq_f16", S(1,          2),       .mask = MASK_1, .flush16_64 = 1},
    };
    alu_run(*state, modified, COUNT(modified));
}

/* A value of each class, in the order of the mask's bits. */
void alu_test_class(void **state)
{
    static const char *const names[] = {"v_cmp_class_f16",  "v_cmpx_class_f16", "v_cmp_class_f32",
                                        "v_cmpx_class_f32", "v_cmp_class_f64",  "v_cmpx_class_f64"};
    static const uint64_t values[3][10] = {
        {0x7d00,             0x7e00,             0xfc00,             0xbc00,             0x8001,     0x8000,             0x0000, 0x0001, 0x3c00,             0x7c00            },
        {0x7f800001,         0x7fc00000,         0xff800000,         0xbf800000,         0x80000001, 0x80000000,         0,      1,      0x3f800000,
         0x7f800000                                                                                                                                                            },
        {0x7ff0000000000001, 0xfff8000000000000, 0xfff0000000000000, 0xbff0000000000000,
         0x8000000000000001,                                                                         0x8000000000000000, 0,      1,      0x3ff0000000000000, 0x7ff0000000000000},
    };
    for (size_t n = 0; n < COUNT(names); n++) {
        for (unsigned i = 0; i < 10; i++) {
            struct alu_case cases[2] = {
                {names[n], S(values[n / 2][i], 1U << i), .mask = MASK_1, .flush32 = 3,
                 .flush16_64 = 3},
                {names[n], S(values[n / 2][i], 0x3ffU & ~(1U << i)), .mask = MASK_0},
            };
            alu_run(*state, cases, 2);
        }
    }
    const struct alu_case modified[] = {
        {"v_cmp_class_f32", S(F(-1.0F),   1U << 8), .mask = MASK_1, .abs = 1   },
        {"v_cmp_class_f64", S(0,          1U << 5), .mask = MASK_1, .neg = 1   },
        {"v_cmp_class_f16", S(0x7c000000, 1U << 9), .mask = MASK_1, .op_sel = 1},
    };
    alu_run(*state, modified, COUNT(modified));
}
