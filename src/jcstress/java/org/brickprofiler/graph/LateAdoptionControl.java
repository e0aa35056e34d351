package org.brickprofiler.graph;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.brickprofiler.graph.ExecutionNode.Brick;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * The control of {@link GraphRecorderStress.Adoption}: the same log and nodes, but the parent is published before it
 * adopts. It must be seen without its child.
 */
@JCStressTest
@Outcome(id = "0, -1", expect = ACCEPTABLE, desc = "nothing yet")
@Outcome(id = "1, -1", expect = ACCEPTABLE, desc = "the child alone")
@Outcome(id = "2, 1", expect = ACCEPTABLE, desc = "the child in its parent")
@Outcome(expect = FORBIDDEN, desc = "a parent without its child, as is to be expected here")
@State
public class LateAdoptionControl {

    private final AppendLog<RecordedNode> nodes = new AppendLog<>(100);
    private final RecordedNode child = node();
    private final RecordedNode parent = node();

    private static RecordedNode node() {
        return new RecordedNode(new Brick("b", 1, 1), 0, GraphRecorder.NONE);
    }

    @Actor
    public void recording() {
        nodes.publish(nodes.reserve(), child);
        int id = nodes.reserve();
        nodes.publish(id, parent);
        child.setParent(id);
    }

    @Actor
    public void reading(II_Result r) {
        int limit = nodes.size();
        for (int id = 0; id < limit; id++) {
            nodes.get(id);
        }
        r.r1 = limit;
        r.r2 = limit == 0 ? -1 : nodes.get(0).parentBelow(limit);
    }
}
