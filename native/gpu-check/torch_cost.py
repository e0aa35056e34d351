"""Measures the cost of PyTorch's profiler: passes of short kernels, alternately with and without it.

Prints a line key=value for each figure, or one line reason=... if the cost cannot be measured.
"""
import statistics
import time

OPERATIONS = 384
KERNEL_US = 10.0
ROUNDS = 12


def measure():
    try:
        import torch
        from torch.profiler import ProfilerActivity, profile
    except ImportError as missing:
        return {"reason": f"torch cannot be imported: {missing}"}
    if not torch.cuda.is_available():
        return {"reason": "torch finds no CUDA device"}

    def sleep_us(cycles, count):
        start = torch.cuda.Event(enable_timing=True)
        end = torch.cuda.Event(enable_timing=True)
        start.record()
        for _ in range(count):
            torch.cuda._sleep(cycles)
        end.record()
        torch.cuda.synchronize()
        return start.elapsed_time(end) * 1e3 / count

    # Derives the cycles of a kernel from a kernel that is much longer than its launch.
    sleep_us(1_000_000, 1)
    cycles = max(1, int(KERNEL_US * 10_000_000 / sleep_us(10_000_000, 1)))

    def one_pass():
        start = time.perf_counter_ns()
        for _ in range(OPERATIONS):
            torch.cuda._sleep(cycles)
        torch.cuda.synchronize()
        return (time.perf_counter_ns() - start) / 1e3

    absent, profiled = [], []
    one_pass()
    for _ in range(ROUNDS):
        absent.append(one_pass())
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]):
            one_pass()
            profiled.append(one_pass())
    return {
        "torch": torch.__version__,
        "operations": OPERATIONS,
        "absent_us": f"{statistics.median(absent):.3f}",
        "profiled_us": f"{statistics.median(profiled):.3f}",
    }


if __name__ == "__main__":
    try:
        figures = measure()
    except Exception as failed:  # the other checks continue after any failure
        figures = {"reason": f"{type(failed).__name__}: {failed}".replace("\n", " ")}
    for key, value in figures.items():
        print(f"{key}={value}")
