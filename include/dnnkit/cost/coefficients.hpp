// SPDX-License-Identifier: MIT
// What a core takes for the parts that kernels are made of, in cycles where nothing else is said. `fitted`: to the
// kernels of ten networks that bench/costs/run.sh measures (docs/measurements/cost-model.md). `manual`: of Intel's and
// AMD's cores since 2019. `counted`: instructions, by what those of the exponential take; too few kernels of those
// networks have any.
#pragma once

namespace dnnkit {

struct cost_coefficients {
  double gigahertz = 3;  // the clock for which printers turn cycles into seconds: that of a server's core in vectors

  // --- what begins: fitted, but for collisions
  double kernel = 900;     // a kernel: the call, its constants, the first misses of caches and branches
  double phase = 800;      // a further phase: staging, packing
  double turn = 40;        // a stage's turn on a tile of rows: the call, and where its operands lie; at most that with
                           // rows of four pixels of 16 channels: measured
  double row = 6;          // a row: where its operands lie, and its last, partial vector
  double tile = 14;        // a register tile of products: the call, and what its sums wait for at both ends
  double run = 7;          // a stretch of a reduction that lies in one piece, within a tile
  double merge = 120;      // a row's sum of one pass: its accumulators and lanes merged, and what waits for it
  double line = 40;        // a row that is put together in scratch memory and read again at once: loads wait for stores
                           // of other vectors; measured with pools of rows of 8 and 20 pixels
  double collision = 0.3;  // a row of a tile that finds no place in its set of the first cache, each step; measured
                           // with products of 3072 steps (cpu/micro/gemm.hpp)

  // --- single elements: fitted
  double scattered = 3;   // one that leaves a vector by itself
  double gathered = 1.6;  // one that is put into a vector, or into scratch memory, by itself
  double evaluated = 14;  // one that an operator's definition computes by itself
  double divided = 1.5;   // a coordinate that a view takes apart
  double moved = 33;      // the way of coordinates through one movement operator

  // --- vectors
  double product = 1.07;    // times as many cycles as multiply-adds alone would take, in tiles; fitted
  double latency = 4;       // of a multiply-add; manual
  double panel = 24;        // bytes a cycle of weights that tiles stream from the second cache; measured
  double load = 0.4;        // of a vector, or of an element into all lanes; fitted, as are the next two
  double store = 2;         // of a vector, with finding the place
  double simple = 1;        // an addition, multiplication, comparison, selection
  double division = 5;      // of 16 lanes, of 8 half of it: what other work does not hide; fitted
  double square_root = 6;   // the same; counted
  double exponential = 14;  // fitted
  double logarithm = 16;    // counted
  double power = 150;       // in double precision; counted
  double library = 400;     // a function of the C library, lane by lane; counted

  // --- what is not hidden: fitted
  double overlap = 0.35;  // of the shorter of arithmetic and the near caches, the part that the longer does not hide
  double weights = 0.25;  // of weights that tiles of rows read again, the part that other panels do not hide; measured
                          // with VGG-16's layers of 256 channels
  double exposed = 0.88;  // of what comes from farther away, the part that arithmetic does not hide
};

}  // namespace dnnkit
