// SPDX-License-Identifier: MIT
// The kernels of a group around a convolution, channels last: direct convolution over input with a halo
// (cpu/micro/conv.hpp), or, where groups have one channel or few, vectors of several groups' (cpu/micro/depthwise.hpp).
// An input that is not stored so, or has a prologue, is first brought into that form in scratch memory, prologue
// included, each element once; weights that the run computes are packed there.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "dnnkit/cpu/families/convolution_kernel.hpp"
#include "dnnkit/cpu/micro/depthwise.hpp"

namespace dnnkit::cpu::inline DNNKIT_TARGET {

// Parameter 0 of the choices: do the pixels of an image follow each other without a border?
struct conv_nhwc {
  static constexpr std::string_view name = "conv_nhwc";
  static constexpr bool carries_out(const operator_tag& anchor) { return anchor.id == id_of<op::conv>; }

  static constexpr kernel_match match(const kernel_spec& recipe, const cpu_facts& facts) {
    const convolution_spec spec(recipe);
    if (const std::string_view why = spec.unfit({.doubles = true, .computed_weights = true}); !why.empty())
      return no_match{why};
    if (spec.fills_vectors_with_groups(facts)) return no_match{"groups have few channels: vectors of one are not full"};
    const int vectors = panel_vectors(spec, facts), registers = registers_of(spec);
    const output_row row = row_of(spec);
    kernel_genes genes{.vectors = static_cast<std::int32_t>(largest_piece(vectors_in_group(spec, facts), vectors))};
    genes.rows = rows_of_tile(facts, registers * genes.vectors, spec.genes().rows, row.is_known ? row.pixels : 0);
    return channels_last(spec, facts, tiles_of(spec, facts, vectors), vectors, genes);
  }

  // The most rows of a tile of so many registers, cut evenly from `extent` of them (0: not known before the run), where
  // `asked` is asked for if it is not 0.
  static constexpr std::int32_t rows_of_tile(const cpu_facts& facts, int registers, std::int32_t asked,
                                             index_t extent) {
    const int most = plan::tile_rows(facts, registers, asked);
    return extent == 0 ? most : static_cast<std::int32_t>(plan::largest_piece(extent, most));
  }

  static constexpr kernel_match channels_last(const convolution_spec& spec, const cpu_facts& facts,
                                              const tiled_cycles& tiles, int vectors, const kernel_genes& genes) {
    const bool stored = spec.stored_channels_last();
    if (const std::string_view why = spec.unfit_for_staging(); !stored && !why.empty()) return no_match{why};
    kernel_choice c = spec.choice(facts, 1, tiles, !stored,
                                  stored ? "vectors of output channels; the input is read where it lies"
                                         : "vectors of output channels; the input is brought to channels last");
    c.tile.vectors = static_cast<std::uint8_t>(vectors);
    c.tile.rows = static_cast<std::uint8_t>(spec.genes().rows == 0 ? 0 : genes.rows);
    c.genes = genes;
    c.parameters = {is_dense(spec)};
    return c;
  }
  // Do the pixels of an image follow each other without a border?
  static constexpr bool is_dense(const convolution_spec& spec) {
    if (spec.runs_on_rows()) return false;
    return spec.stored_channels_last() ? spec.stored.whole && !spec.has_border() : !spec.padded();
  }

  template <class Net, std::size_t R> struct kernel;

 private:
  // Of an output row, or of an image where that is one product: its pixels, and whether the compiler knows how many.
  struct output_row {
    index_t pixels;
    bool is_known;
  };
  static constexpr output_row row_of(const convolution_spec& spec) {
    const index_t width = known_or_typical(spec.out_extent(2));
    if (!spec.attributes(is_dense(spec)).is_gemm()) return {width, spec.out_extent(2).is_known()};
    return {width * known_or_typical(spec.out_extent(1)),
            spec.out_extent(2).is_known() && spec.out_extent(1).is_known()};
  }
  static constexpr int registers_of(const convolution_spec& spec) { return spec.is_of_doubles() ? 2 : 1; }  // a vector
  static constexpr index_t vectors_in_group(const convolution_spec& spec, const cpu_facts& facts) {
    return static_cast<index_t>(vectors_of(facts, static_cast<double>(spec.attributes(false).group_out())));
  }
  static constexpr int panel_vectors(const convolution_spec& spec, const cpu_facts& facts) {
    const int of_a_vector = registers_of(spec), asked = spec.genes().vectors;
    if (asked > 0 && asked * of_a_vector <= plan::tile_vectors(facts)) return asked;
    const output_row row = row_of(spec);
    const int registers = row_width(facts, vectors_in_group(spec, facts), row.is_known ? row.pixels : 0);
    return (registers + of_a_vector - 1) / of_a_vector;
  }
  // Tiles of neighbouring pixels of such a row by panels of output channels.
  static constexpr tiled_cycles tiles_of(const convolution_spec& spec, const cpu_facts& facts, int vectors) {
    const conv_attributes a = spec.attributes(is_dense(spec));
    const auto row = static_cast<double>(row_of(spec).pixels);
    const bool one_run = a.dilation_w == 1 && a.groups == 1;
    const int registers = registers_of(spec);
    const tiled_product of_row{.rows = row,
                               .vectors = registers * vectors_of(facts, static_cast<double>(a.group_out())),
                               .depth = static_cast<double>(a.reduction()),
                               .runs = static_cast<double>(a.kernel_d * a.kernel_h * (one_run ? 1 : a.kernel_w)),
                               .most_rows = spec.genes().rows};
    const tiled_cycles one = cycles_of(facts, of_row, vectors * registers);
    const double times = spec.pixels() / row * static_cast<double>(a.groups);
    return {times * one.arithmetic, times * one.starts};
  }
};

struct conv_depthwise {
  static constexpr std::string_view name = "conv_depthwise";
  static constexpr bool carries_out(const operator_tag& anchor) { return anchor.id == id_of<op::conv>; }

  static constexpr kernel_match match(const kernel_spec& recipe, const cpu_facts& facts) {
    const convolution_spec spec(recipe);
    if (const std::string_view why = spec.unfit({.computed_weights = true}); !why.empty()) return no_match{why};
    if (!spec.fills_vectors_with_groups(facts))
      return no_match{"groups have not one channel, or as many input as output channels as divide a vector's lanes"};
    const local_extent width = spec.out_extent(2);
    const std::int32_t rows =
        conv_nhwc::rows_of_tile(facts, 1, spec.genes().rows, width.is_known() ? width.value() : 0);
    return conv_nhwc::channels_last(spec, facts, tiles_of(spec, facts), 1, {.rows = rows});
  }

  template <class Net, std::size_t R> struct kernel;

 private:
  // Tiles of neighbouring pixels of an output row by one vector of channels; each tap loads its pixels. Of groups of
  // several channels, each pixel is brought to the lanes of its groups once for each of these.
  static constexpr tiled_cycles tiles_of(const convolution_spec& spec, const cpu_facts& facts) {
    const double width = static_cast<double>(known_or_typical(spec.out_extent(2)));
    const double vectors = vectors_of(facts, static_cast<double>(spec.out_channels()));
    const auto rows_of_taps = static_cast<double>(spec.taps(0) * spec.taps(1)),
               group = static_cast<double>(spec.weight_dim(1));
    const tiled_product of_row{
        .rows = width, .vectors = 1, .depth = spec.depth(), .runs = rows_of_taps, .most_rows = spec.genes().rows};
    const tiled_cycles one = cycles_of(facts, of_row, 1);
    const double times = spec.pixels() / width * vectors;
    const double spread = group == 1 ? 0 : rows_of_taps * group * width * static_cast<double>(spec.stride(2));
    return {times * (one.arithmetic + spread * facts.costs.simple / facts.multiply_adds), times * one.starts};
  }
};

// Engine: of cpu/micro/conv.hpp or cpu/micro/depthwise.hpp, given the attributes and the types of the extents. Its rows
// are those of an image and lie in planes, or it is the other way round: rows along the depth, where it says so. Where
// it says that, it asks for an input that is not in place row by row, instead of finding it in scratch memory.
template <class Net, std::size_t R, class Engine> struct channels_last_kernel : convolution_kernel<Net, R> {
  using facts = convolution_kernel<Net, R>;
  using access = typename facts::access;
  using values = typename facts::values;
  using facts::after, facts::axes, facts::before, facts::bias, facts::has_axis, facts::in_channels, facts::in_dim,
      facts::in_extent, facts::in_place, facts::input, facts::out_extent, facts::padded, facts::position,
      facts::source_load, facts::spec, facts::staged, facts::times, facts::weight;
  template <std::size_t A> using nth = typename facts::template nth<A>;

  static constexpr conv_attributes attributes = [] {
    conv_attributes a = spec.attributes(access::choice.parameters[0] != 0);
    a.panel_vectors = access::choice.tile.vectors;
    a.most_rows = access::choice.tile.rows;
    return a;
  }();
  static constexpr bool is_deep = requires { requires Engine::is_deep; };
  static constexpr bool takes_rows = !in_place && requires { requires Engine::takes_rows; };
  static constexpr std::size_t row_axis = is_deep ? 0 : 1, plane_axis = 1 - row_axis;
  using vector = lanes<multiplied_as(access::self.anchor_type), float_lanes>;
  using number = typename vector::value_type;
  template <class... Extents> using engine = typename Engine::template of<attributes, vector, Extents...>;

  static auto convolution(const kernel_call& call) {
    auto c = extents_of_convolution(call);
    if constexpr (requires { c.is_one_element; }) c.is_one_element = is_one_element(call);
    return c;
  }
  static auto extents_of_convolution(const kernel_call& call) {
    const auto height = extent_value<out_extent(row_axis)>(call);
    const auto width = extent_value<out_extent(2)>(call);
    if constexpr (in_place) {
      const auto pixel = [&] {
        if constexpr (in_extent(2) == 1) return constant<in_channels>{};
        else return facts::template stride_of<facts::width_dim>(call);
      }();
      const auto row = [&] {
        if constexpr (axes < 2) return constant<0>{};
        else return facts::template stride_of<position(row_axis) + 2>(call);
      }();
      engine<std::remove_cvref_t<decltype(height)>, std::remove_cvref_t<decltype(width)>,
             std::remove_cvref_t<decltype(row)>, std::remove_cvref_t<decltype(pixel)>>
          c{height, width, row, pixel};
      c.images = extent_value<in_dim(0)>(call);
      c.image_stride = facts::template stride_of<0>(call);
      c.out_d = extent_value<out_extent(plane_axis)>(call);
      if constexpr (axes == 3) c.depth_stride = facts::template stride_of<position(plane_axis) + 2>(call);
      return c;
    } else {
      const auto row = times(staged(call, nth<2>{}), constant<in_channels>{});
      const auto plane = times(staged(call, nth<1>{}), row);
      const auto along_rows = [&] {
        if constexpr (is_deep) return plane;
        else return row;
      }();
      engine<std::remove_cvref_t<decltype(height)>, std::remove_cvref_t<decltype(width)>,
             std::remove_cvref_t<decltype(along_rows)>>
          c{height, width, along_rows, {}};
      c.images = extent_value<in_dim(0)>(call);
      c.image_stride = times(staged(call, nth<0>{}), plane);
      c.out_d = extent_value<out_extent(plane_axis)>(call);
      c.depth_stride = is_deep ? index_t(row) : index_t(plane);
      return c;
    }
  }
  // Is each image, along the axes of several taps, one element in the middle of a border, and each result one, too?
  static bool is_one_element(const kernel_call& call) { return is_one_along<row_axis>(call) && is_one_along<2>(call); }
  template <std::size_t Axis> static bool is_one_along(const kernel_call& call) {
    return spec.taps(Axis) == 1 ||
           (before(Axis) == 1 && extent_value<in_extent(Axis)>(call) == 1 && extent_value<out_extent(Axis)>(call) == 1);
  }
  using convolution_type = decltype(convolution(std::declval<const kernel_call&>()));

  // --- weights
  static constexpr bool packs_once = access::choice.operands[1] == operand_reading::packed_once;
  static constexpr index_t weight_numbers = convolution_type::packed_size(),
                           bias_numbers = convolution_type::bias_size();
  static constexpr std::int64_t number_bytes = sizeof(number);

  static constexpr std::int64_t packed_bytes = packs_once ? (weight_numbers + bias_numbers) * number_bytes : 0;
  static constexpr std::uint32_t packed_inputs = packs_once ? facts::packed_inputs : 0;
  static void pack(const kernel_call& call) noexcept requires(packs_once) {
    facts::template pack_for<convolution_type>(call);
  }

  // --- first phase: the input with its border, channels last, in scratch (a unit is one row), and weights that the run
  // computes
  static constexpr bool stages = !in_place && !takes_rows, prepares = stages || !packs_once;
  // Numbers of the scratch, of which each part begins at a multiple of 64 bytes.
  static index_t input_scratch(const kernel_call& call) {
    return !stages ? 0 : ceil_div(rows_of_input(call) * staged(call, nth<2>{}) * in_channels, 16) * 16;
  }
  static constexpr index_t plain_scratch = packs_once ? 0 : ceil_div(facts::plain_numbers, 16) * 16;
  static constexpr index_t packed_scratch = packs_once ? 0 : weight_numbers + bias_numbers;

  static std::int64_t scratch_bytes(const kernel_call& call) noexcept requires(prepares) {
    return (input_scratch(call) + plain_scratch + packed_scratch) * number_bytes;
  }
  static index_t prepare_units(const kernel_call& call) noexcept requires(prepares) {
    return (stages ? rows_of_input(call) : 0) + (packs_once ? 0 : 1);
  }
  static void prepare(const kernel_call& call, index_t first, index_t last) noexcept requires(prepares) {
    if constexpr (!packs_once) {
      if (first == 0) facts::template pack_by_way_of<convolution_type>(call, plain_of_run(call), packed_of_run(call));
      first = std::max<index_t>(first - 1, 0);
      --last;
    }
    if constexpr (stages) stage(call, first, last);
  }
  static void stage(const kernel_call& call, index_t first, index_t last) {
    const index_t depth = staged(call, nth<0>{}), height = staged(call, nth<1>{}), width = staged(call, nth<2>{});
    for (index_t u = first; u < last; ++u)
      stage_pixels(call, u / height / depth, u / height % depth, u % height, 0, width,
                   reinterpret_cast<number*>(call.scratch) + u * width * in_channels);
  }
  // So many pixels of a row of the input with its border, from column x of that on.
  static void stage_pixels(const kernel_call& call, index_t n, index_t plane, index_t row, index_t x, index_t pixels,
                           number* out) {
    const index_t y = row - before(1), z = plane - before(0);
    if (y < 0 || y >= extent_value<in_extent(1)>(call) || z < 0 || z >= extent_value<in_extent(0)>(call)) {
      std::fill(out, out + pixels * in_channels, number(0));
      return;
    }
    const index_t in_w = extent_value<in_extent(2)>(call), begin = std::clamp<index_t>(before(2) - x, 0, pixels),
                  end = std::clamp<index_t>(before(2) + in_w - x, begin, pixels);
    std::fill(out, out + begin * in_channels, number(0));
    std::fill(out + end * in_channels, out + pixels * in_channels, number(0));
    coordinates c{n};
    if constexpr (has_axis(0)) c[position(0) + 2] = z;
    if constexpr (has_axis(1)) c[position(1) + 2] = y;
    stage_row(call, c, x + begin - before(2), end - begin, out + begin * in_channels);
  }

  // --- second phase
  static index_t units(const kernel_call& call) noexcept { return convolution(call).units(); }

  // Room of its own, where the engine has anything to put there.
  static constexpr bool has_room = requires { convolution_type::room(); };
  static std::int64_t worker_bytes(const kernel_call&) noexcept requires(has_room) {
    return convolution_type::room() * number_bytes;
  }

  static void run(const kernel_call& call, index_t first, index_t last) noexcept {
    run_with(call, first, last, finishing(call));
  }
  // The same with another epilogue.
  static void run_with(const kernel_call& call, index_t first, index_t last, auto&& finish) noexcept {
    with_operands(call, [&](const auto& c, auto in, const number* weights, const number* start) {
      if constexpr (has_room) c.run(in, weights, start, first, last, finish, reinterpret_cast<number*>(call.worker));
      else c.run(in, weights, start, first, last, finish);
    });
  }
  // The coordinates of what an epilogue is given (cpu/micro/conv.hpp).
  [[gnu::always_inline]] static coordinates place_of(index_t n, index_t y, index_t x, index_t oc, index_t planes) {
    coordinates at{};
    at[1] = oc;
    at[0] = has_axis(plane_axis) ? n / planes : n;
    if constexpr (has_axis(plane_axis)) at[position(plane_axis) + 2] = n % planes;
    if constexpr (has_axis(row_axis)) at[position(row_axis) + 2] = y;
    at[position(2) + 2] = x;
    return at;
  }

  // Rows of an image, panel by panel; of a volume, planes.
  static void run_rows(const kernel_call& call, index_t image, index_t first, index_t last) noexcept
      requires(facts::spec.runs_on_rows()) {
    if constexpr (axes == 2 && requires { &convolution_type::by_rows; }) {
      with_operands(call, [&](const auto& c, auto in, const number* weights, const number* start) {
        c.run_rows(in, weights, start, image, first, last, finishing(call));
      });
    } else {  // units that follow each other
      const index_t rows = extent_value<access::space(2)>(call),
                    each = units(call) / (extent_value<in_dim(0)>(call) * rows);
      run(call, (image * rows + first) * each, (image * rows + last) * each);
    }
  }

 private:
  // The epilogue of the group.
  static auto finishing(const kernel_call& call) {
    const index_t planes = extent_value<out_extent(plane_axis)>(call);
    return [&call, planes](auto acc, index_t n, index_t y, index_t x, index_t oc, auto valid) {
      values::template finish<float_lanes, 1>(call, place_of(n, y, x, oc, planes), valid, acc);
    };
  }
  // f(engine, input, weights, bias): the input is where it lies, or a function that brings it.
  static void with_operands(const kernel_call& call, auto&& f) {
    const number* weights = packed_of_run(call);
    if constexpr (packs_once) weights = reinterpret_cast<const number*>(call.packed);
    const auto in = [&] {
      if constexpr (in_place) return static_cast<const number*>(facts::first_tap(call));
      else if constexpr (stages) return reinterpret_cast<const number*>(call.scratch);
      else
        return [&call](index_t n, index_t y, index_t x, index_t pixels, number* to) {
          stage_pixels(call, n, 0, y, x, pixels, to);
        };
    }();
    f(convolution(call), in, weights, bias.from == source::nothing ? nullptr : weights + weight_numbers);
  }

  static index_t rows_of_input(const kernel_call& call) {
    return extent_value<in_dim(0)>(call) * staged(call, nth<0>{}) * staged(call, nth<1>{});
  }
  static number* plain_of_run(const kernel_call& call) {
    return reinterpret_cast<number*>(call.scratch) + input_scratch(call);
  }
  static number* packed_of_run(const kernel_call& call) { return plain_of_run(call) + plain_scratch; }

  // Pixels of one input row from column `first` on, channels last: vectors along the channels, or along the row when
  // channels are few.
  static void stage_row(const kernel_call& call, coordinates c, index_t first, index_t pixels, number* out) {
    constexpr std::size_t last = facts::width_dim;
    constexpr index_t channels = facts::in_channels;
    if constexpr (channels >= float_lanes) {
      for (index_t x = 0; x < pixels; ++x) {
        c[last] = first + x;
        for_lanes<float_lanes, 1>(c, channels, [&](auto n) {
          const auto v = values::template evaluate<input, float_lanes, 1>(call, c, n, 0);
          v.store(out + x * channels + c[1], n);
        });
      }
    } else {
      for (index_t ch = 0; ch < channels; ++ch) {
        c[1] = ch;
        for_lanes_between<float_lanes, last>(c, first, first + pixels, [&](auto n) {
          const auto v = values::template evaluate<input, float_lanes, last>(call, c, n, 0);
          for (int i = 0; i < n; ++i) out[(c[last] - first + i) * channels + ch] = v[i];
        });
      }
    }
  }
};

struct direct_convolution {
  template <conv_attributes A, class Vec, class... Extents> using of = conv_of<A, Vec, Extents...>;
};
struct depthwise_convolution {
  template <conv_attributes A, class, class... Extents> using of = depthwise<A, Extents...>;
};

template <class Net, std::size_t R> struct conv_nhwc::kernel : channels_last_kernel<Net, R, direct_convolution> {};
template <class Net, std::size_t R>
struct conv_depthwise::kernel : channels_last_kernel<Net, R, depthwise_convolution> {};

}  // namespace dnnkit::cpu::inline DNNKIT_TARGET
