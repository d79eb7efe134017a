// SPDX-License-Identifier: MIT
// C++ types and element types: each way round, over all of them.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "dnnkit/core/element.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

using namespace dnnkit;

// dtype_of_type<type_of_dtype<D>> == D, and the sizes agree.
template <std::size_t... I> constexpr bool agree(std::index_sequence<I...>) {
  return ((dtype_of_type<const type_of_dtype<static_cast<dtype>(I)>> == static_cast<dtype>(I) &&
           sizeof(type_of_dtype<static_cast<dtype>(I)>) == size_of(static_cast<dtype>(I))) &&
          ...);
}
static_assert(agree(std::make_index_sequence<dtype_table.size()>()));

static_assert(dtype_of_type<long long> == i64 && dtype_of_type<long> == i64 && dtype_of_type<unsigned char> == u8);
static_assert(!dtype_of_type<char> && !dtype_of_type<void*> && !dtype_of_type<long double>);

TEST_CASE("the assertions above are the test") {}
