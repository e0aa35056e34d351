"""Runs the functions of Holistic Trace Analysis over traces, and prints what became of each; see docs/HTA.md.

    python3 functions.py FOLDER-OF-HTA TRACE.json[.gz][@OPERATOR]...

OPERATOR is what get_frequent_cuda_kernel_sequences looks for, "aten::" where none is given.
"""
import logging
import os
import sys
import tempfile
import warnings
from pathlib import Path

sys.path.insert(0, sys.argv[1])
warnings.simplefilter("ignore")

import plotly.graph_objects as go
from hta.trace_analysis import TraceAnalysis
from hta.trace_diff import TraceDiff
from hta.common.trace import get_cpu_gpu_correlation

logging.disable(logging.CRITICAL)
go.Figure.show = lambda *args, **kwargs: None


def size(result):
    """Rows of tables, and their numbers added up."""
    if result is None:
        return "nothing"
    if isinstance(result, dict):
        return ", ".join(size(value) for value in result.values()) or "nothing"
    if isinstance(result, tuple):
        return " and ".join(size(value) for value in result)
    if hasattr(result, "select_dtypes"):
        # Processes and threads are numbers or text, as the other events of the trace would have it.
        result = result.drop(columns=["pid", "tid"], errors="ignore")
        numbers = result.select_dtypes("number").fillna(0).sum().sum()
        return f"{len(result)} rows, sum {numbers:.6g}"
    if isinstance(result, (list, set)):
        return f"{len(result)} items"
    return type(result).__name__


def functions(analysis, folder, operator):
    first = analysis.t.get_ranks()[0]
    yield "get_profiler_steps", lambda: analysis.get_profiler_steps()
    yield "get_temporal_breakdown", lambda: analysis.get_temporal_breakdown(visualize=False)
    yield "get_gpu_kernel_breakdown", lambda: analysis.get_gpu_kernel_breakdown(visualize=False)
    yield "get_comm_comp_overlap", lambda: analysis.get_comm_comp_overlap(visualize=False)
    yield "get_idle_time_breakdown", lambda: analysis.get_idle_time_breakdown(ranks=[first], visualize=False)
    yield "get_cuda_kernel_launch_stats", lambda: analysis.get_cuda_kernel_launch_stats(ranks=[first], visualize=False)
    yield "get_aten_op_kernels_and_delay", lambda: analysis.get_aten_op_kernels_and_delay(ranks=[first])
    yield "get_frequent_cuda_kernel_sequences", lambda: analysis.get_frequent_cuda_kernel_sequences(
        operator, folder, min_pattern_len=1, rank=first, visualize=False)
    yield "get_queue_length_summary", lambda: analysis.get_queue_length_summary(ranks=[first])
    yield "get_queue_length_time_series", lambda: analysis.get_queue_length_time_series(ranks=[first])
    yield "get_memory_bw_summary", lambda: analysis.get_memory_bw_summary(ranks=[first])
    yield "get_memory_bw_time_series", lambda: analysis.get_memory_bw_time_series(ranks=[first])
    yield "generate_trace_with_counters", lambda: analysis.generate_trace_with_counters(
        ranks=[first], output_suffix="_counters")
    yield "get_gpu_user_annotation_breakdown", lambda: analysis.get_gpu_user_annotation_breakdown(visualize=False)
    yield "get_gpu_kernels_with_user_annotations", lambda: analysis.get_gpu_kernels_with_user_annotations(first)
    yield "get_potential_stragglers", lambda: analysis.get_potential_stragglers(num_candidates=1)
    yield "critical_path_analysis", lambda: critical_path(analysis, first)
    yield "TraceDiff.compare_traces", lambda: TraceDiff.compare_traces(analysis.t, analysis.t)


def critical_path(analysis, rank):
    graph, success = analysis.critical_path_analysis(
        rank=rank, annotation="ProfilerStep", instance_id=0)
    if not success:
        raise RuntimeError("no success")
    return graph.summary().to_frame()


def outcome(function):
    sys.stdout.flush()
    keep = os.dup(1)
    try:
        with open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), 1)
            result = function()
    except Exception as failure:  # noqa: BLE001 (any failure is a result here)
        return f"FAILS: {type(failure).__name__}: {str(failure)[:100]!r}"
    finally:
        sys.stdout.flush()
        os.dup2(keep, 1)
        os.close(keep)
    return size(result)


def links(trace):
    """Of the device's events how many HTA ties to the call that launched them."""
    frame = trace.get_trace(trace.get_ranks()[0])
    return f"{int(frame['stream'].ge(0).sum())} events on the device, {len(get_cpu_gpu_correlation(frame))} with a launch"


def run(path, operator):
    print(f"== {Path(path).name}")
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, Path(path).name)
        copy.write_bytes(Path(path).read_bytes())
        try:
            analysis = TraceAnalysis(trace_dir=folder)
        except Exception as failure:  # noqa: BLE001
            print(f"   load: FAILS: {type(failure).__name__}: {str(failure)[:100]!r}")
            return
        print(f"   load: {links(analysis.t)}")
        for name, function in functions(analysis, folder, operator):
            print(f"   {name}: {outcome(function)}")


for argument in sys.argv[2:]:
    path, _, operator = argument.partition("@")
    run(path, operator or "aten::")
