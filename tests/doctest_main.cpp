// SPDX-License-Identifier: MIT
// The main function of every test that does not define one: the tests' own options are doctest's.
#include <doctest/doctest.h>

int main(int argc, char** argv) { return doctest::Context(argc, argv).run(); }
