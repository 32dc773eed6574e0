// spmv_coo: adds alpha A in to out for a matrix held as entries (row, column, value), ordered by
// row (COO). Sums are added in fixed trees, without atomics, so that all runs give equal bytes (a
// segmented sum; the flat kernel of Bell and Garland, SC 2009, has these parts).
//
// spmv: a group takes GROUP * SHARE entries, of which a work-item adds SHARE consecutive ones. A
// row that begins and ends in one work-item is written at once. What a work-item adds to a row that
// began before its first entry is the work-item's head. Heads are added by a segmented scan over
// the group, and the work-item in which the row began writes its own sum and the heads. The heads
// of a row that began in an earlier group go to carries[group]. carry: one work-item for each
// group. The first group that continues a row adds all carries of the row. begin: one work-item for
// each row writes what the others add to. They touch no rows without entries.
#if !defined(GROUP) || !defined(SHARE)
#error "spmv_coo needs GROUP and SHARE"
#endif
#include "spmv/spmv_weights.clh"
#define NO_ROW 0xffffffffu

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void spmv(
    __global const uint* restrict rows, __global const uint* restrict columns,
    __global const weight_t* restrict values, const ulong count, __global float* restrict carries,
    VECTORS) {
  __local float products[GROUP * SHARE];
  __local uint tile[GROUP * SHARE];
  __local float heads[GROUP];
  // Whether all of a work-item is head, and the row goes on in the next work-item.
  __local uchar open[GROUP];
  const uint lid = get_local_id(0);
  const ulong base = (ulong)get_group_id(0) * (GROUP * SHARE);
  for (uint i = lid; i < GROUP * SHARE; i += GROUP) {
    const ulong e = base + i;
    tile[i] = e < count ? rows[e] : NO_ROW;
    products[i] = e < count ? WEIGHT(values, e) * in[columns[e]] : 0.0f;
  }
  barrier(CLK_LOCAL_MEM_FENCE);

  const uint begin = lid * SHARE;
  uint row = tile[begin];
  const uint before = begin > 0 ? tile[begin - 1] : (base > 0 ? rows[base - 1] : NO_ROW);
  const bool continues = row != NO_ROW && row == before;
  bool in_head = continues;
  float head = 0.0f;
  float sum = 0.0f;
  for (uint i = begin; i < begin + SHARE; ++i) {
    if (tile[i] != row) {
      if (in_head) {
        head = sum;
        in_head = false;
      } else {
        out[row] += alpha * sum;
      }
      row = tile[i];
      sum = 0.0f;
    }
    if (row == NO_ROW) break;
    sum += products[i];
  }
  const bool goes_on = lid + 1 < GROUP && row != NO_ROW && tile[begin + SHARE] == row;
  if (in_head) head = sum;
  heads[lid] = head;
  open[lid] = in_head && goes_on;
  for (uint step = 1; step < GROUP; step *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    const bool more = open[lid] && lid + step < GROUP;
    const float further = more ? heads[lid + step] : 0.0f;
    const uchar further_open = more ? open[lid + step] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    heads[lid] += further;
    open[lid] = further_open;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (row != NO_ROW && !in_head) out[row] += alpha * (goes_on ? sum + heads[lid + 1] : sum);
  if (lid == 0 && continues) carries[get_group_id(0)] = heads[0];
}

__kernel void carry(__global const uint* restrict rows, const ulong count, const ulong groups,
                    __global const float* restrict carries, __global float* restrict out,
                    const float alpha) {
  const ulong tile = GROUP * SHARE;
  const ulong group = get_global_id(0) + 1;
  if (group >= groups) return;
  const uint row = rows[group * tile];
  if (rows[group * tile - 1] != row) return;
  // An earlier group that continues the row adds this carry.
  if (group > 1 && rows[(group - 1) * tile - 1] == row) return;
  float sum = 0.0f;
  for (ulong g = group; g < groups && rows[g * tile] == row; ++g) sum += carries[g];
  out[row] += alpha * sum;
}

__kernel void begin(const ulong rows, VECTORS) {
  const ulong row = get_global_id(0);
  if (row < rows) STORE(row, 0.0f);
}
