// The kernels of the demonstration's decoder for OpenCL 1.2. Names and arguments are those of kernels.ptx. The host
// launches exactly as many work items as there are values, rows or columns, so no kernel checks a bound.

float dot_product(global const float *a, global const float *b, int n) {
    float4 sums = (float4)(0.0f);
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        sums += vload4(0, a + i) * vload4(0, b + i);
    }
    float sum = (sums.x + sums.y) + (sums.z + sums.w);
    for (; i < n; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

// Combines one value of each item of a work group, whose size is a power of two; all items receive the result.
float sum_of_group(float value, local float *partial) {
    int item = get_local_id(0);
    partial[item] = value;
    for (int half_size = get_local_size(0) / 2; half_size > 0; half_size /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < half_size) {
            partial[item] += partial[item + half_size];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = partial[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    return sum;
}

float largest_of_group(float value, local float *partial) {
    int item = get_local_id(0);
    partial[item] = value;
    for (int half_size = get_local_size(0) / 2; half_size > 0; half_size /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < half_size) {
            partial[item] = fmax(partial[item], partial[item + half_size]);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    float largest = partial[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    return largest;
}

// out = row `token` of the table; a work item for each value
kernel void embed(global float *out, global const float *table, int token, int n) {
    size_t i = get_global_id(0);
    out[i] = table[(size_t) token * n + i];
}

// out = in / rms(in) * weights; one work group
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void rms_norm(global float *out, global const float *in, global const float *weights, int n, float epsilon) {
    local float partial[GROUP];
    int item = get_local_id(0);
    float sum = 0.0f;
    for (int i = item; i < n; i += GROUP) {
        sum += in[i] * in[i];
    }
    float scale = 1.0f / sqrt(sum_of_group(sum, partial) / n + epsilon);
    for (int i = item; i < n; i += GROUP) {
        out[i] = in[i] * scale * weights[i];
    }
}

// out = matrix * in; a work item for each row
kernel void matvec(global float *out, global const float *matrix, global const float *in, int rows, int cols) {
    size_t row = get_global_id(0);
    out[row] = dot_product(matrix + row * cols, in, cols);
}

// rotates each pair of neighbouring values; a work item for each pair
kernel void rope(
        global float *heads, global const float *cosines, global const float *sines, int position, int pairs, int count) {
    size_t i = get_global_id(0);
    size_t pair = (size_t) position * pairs + i % pairs;
    float even = heads[2 * i];
    float odd = heads[2 * i + 1];
    heads[2 * i] = even * cosines[pair] - odd * sines[pair];
    heads[2 * i + 1] = even * sines[pair] + odd * cosines[pair];
}

// copies the key and the value of a position into the caches; a work item for each of the n values of a key
kernel void kv_update(
        global float *keys, global float *values, global const float *qkv, int from, int position, int n) {
    size_t i = get_global_id(0);
    keys[(size_t) position * n + i] = qkv[from + i];
    values[(size_t) position * n + i] = qkv[from + n + i];
}

// scores[head][position] = query * key * scale; a work item for each position and head
kernel void attention_score(
        global float *scores, global const float *queries, global const float *keys, int positions,
        int row, int head_dim, int kv_dim, int sharing, float scale) {
    size_t position = get_global_id(0);
    size_t head = get_global_id(1);
    global const float *key = keys + position * kv_dim + head / sharing * head_dim;
    scores[head * row + position] = dot_product(queries + head * head_dim, key, head_dim) * scale;
}

// turns the scores of each head into probabilities; a work group for each head
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void attention_softmax(global float *scores, int positions, int row) {
    local float partial[GROUP];
    int item = get_local_id(0);
    global float *of_head = scores + get_group_id(0) * row;
    float largest = -INFINITY;
    for (int i = item; i < positions; i += GROUP) {
        largest = fmax(largest, of_head[i]);
    }
    largest = largest_of_group(largest, partial);
    float sum = 0.0f;
    for (int i = item; i < positions; i += GROUP) {
        of_head[i] = exp(of_head[i] - largest);
        sum += of_head[i];
    }
    float scale = 1.0f / sum_of_group(sum, partial);
    for (int i = item; i < positions; i += GROUP) {
        of_head[i] *= scale;
    }
}

// out[head] = sum over positions of probability * value; a work item for each dimension of a head, and head
kernel void attention_output(
        global float *out, global const float *scores, global const float *values, int positions,
        int row, int head_dim, int kv_dim, int sharing) {
    size_t i = get_global_id(0);
    size_t head = get_global_id(1);
    global const float *column = values + head / sharing * head_dim + i;
    float sum = 0.0f;
    for (int position = 0; position < positions; position++) {
        sum += scores[head * row + position] * column[(size_t) position * kv_dim];
    }
    out[head * head_dim + i] = sum;
}

// out = gate * sigmoid(gate) * up; a work item for each value
kernel void swiglu(global float *out, global const float *gate, global const float *up, int n) {
    size_t i = get_global_id(0);
    out[i] = gate[i] / (1.0f + exp(-gate[i])) * up[i];
}

// sum += addend; a work item for each value
kernel void residual_add(global float *sum, global const float *addend, int n) {
    size_t i = get_global_id(0);
    sum[i] += addend[i];
}
