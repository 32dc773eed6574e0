// A kernel with one fault of each kind that the oclgrind test looks for: a read and a write outside
// of a buffer, a race between work-items, and a value used before it is set. The test runs it first
// and fails if any of them goes unnoticed.
kernel void faulty(global float* values, local float* shared_value) {
  const size_t item = get_global_id(0);
  shared_value[0] = (float)item;
  float unset[2];
  unset[item & 1] = 1.0f;
  if (unset[1 - (item & 1)] > 0.0f) values[0] = 1.0f;
  values[item + 4] = values[item + 8];
}
