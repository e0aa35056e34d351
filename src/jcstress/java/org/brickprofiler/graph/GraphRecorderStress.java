package org.brickprofiler.graph;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.brickprofiler.graph.ExecutionGraph.Edge;
import org.brickprofiler.graph.ExecutionNode.Function;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IIII_Result;
import org.openjdk.jcstress.infra.results.II_Result;

/** A graph is the state at one moment, and no node is lost. */
public final class GraphRecorderStress {

    private GraphRecorderStress() {}

    /** The recorder of all stress tests of this class; its clock stands still. */
    abstract static class OneRecorder {
        final GraphRecorder recorder;

        OneRecorder(int budget) {
            recorder = new GraphRecorder(() -> 0, budget);
            recorder.enable();
        }

        final void kernel() {
            recorder.recordKernel("k", 1, Dim3.of(1), Dim3.of(1), 0);
        }
    }

    /** A reader that sees a brick also sees the nodes that the brick adopted. */
    @JCStressTest
    @Outcome(id = "0, -1", expect = ACCEPTABLE, desc = "nothing yet")
    @Outcome(id = "1, -1", expect = ACCEPTABLE, desc = "the kernel alone")
    @Outcome(id = "2, 1", expect = ACCEPTABLE, desc = "the kernel in its brick")
    @Outcome(expect = FORBIDDEN, desc = "a brick without its kernel")
    @State
    public static class Adoption extends OneRecorder {
        public Adoption() {
            super(100);
        }

        @Actor
        public void recording() {
            kernel();
            recorder.brick("b", 0, 1, 1);
        }

        @Actor
        public void reading(II_Result r) {
            ExecutionGraph graph = recorder.graph();
            r.r1 = graph.nodeCount();
            r.r2 = graph.nodeCount() == 0 ? -1 : graph.parent(0).orElse(-1);
        }
    }

    /**
     * Two threads record. The result is the number of nodes, of ownership edges, of order edges, and of scopes left
     * open.
     */
    @JCStressTest
    @Outcome(id = "6, 4, 0, 0", expect = ACCEPTABLE, desc = "each thread's scope owns its brick, which owns its kernel")
    @Outcome(expect = FORBIDDEN, desc = "lost, mixed or left open")
    @State
    public static class TwoThreads extends OneRecorder {
        public TwoThreads() {
            super(100);
        }

        private void scope() {
            recorder.pushScope(new Function("f"));
            kernel();
            recorder.brick("b", 0, 1, 1);
            recorder.popScope();
        }

        @Actor
        public void first() {
            scope();
        }

        @Actor
        public void second() {
            scope();
        }

        @Arbiter
        public void arbiter(IIII_Result r) {
            ExecutionGraph graph = recorder.graph();
            r.r1 = graph.nodeCount();
            for (int id = 0; id < graph.nodeCount(); id++) {
                for (Edge edge : graph.incoming(id)) {
                    r.r2 += edge.type().isOwnership() ? 1 : 0;
                    r.r3 += edge.type().isOrder() ? 1 : 0;
                }
            }
            r.r4 = graph.unbalancedScopes().size();
        }
    }

    /** Two threads record with a budget of one node: one node is kept, the others are counted as dropped. */
    @JCStressTest
    @Outcome(id = "1, 3", expect = ACCEPTABLE, desc = "one kept, three dropped")
    @Outcome(expect = FORBIDDEN, desc = "lost or counted twice")
    @State
    public static class Budget extends OneRecorder {
        public Budget() {
            super(1);
        }

        @Actor
        public void first() {
            kernel();
            kernel();
        }

        @Actor
        public void second() {
            kernel();
            kernel();
        }

        @Arbiter
        public void arbiter(II_Result r) {
            ExecutionGraph graph = recorder.graph();
            r.r1 = graph.nodeCount();
            r.r2 = (int) graph.droppedNodes();
        }
    }
}
