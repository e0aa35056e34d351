package org.brickprofiler.graph;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.brickprofiler.graph.ExecutionNode.Transfer;

/** Finds unnecessary transfers. Stateless; any thread. */
public final class TransferPatterns {

    private TransferPatterns() {}

    /** The fields that two transfers must share to be a pair. */
    private record Route(String source, String destination, long bytes) {
        static Route of(Transfer transfer) {
            return new Route(transfer.source(), transfer.destination(), transfer.bytes());
        }

        Route back() {
            return new Route(/* source= */ destination, /* destination= */ source, bytes);
        }
    }

    /**
     * Finds data that was copied from one buffer to another and back in the same size.
     *
     * <p>Transfers are examined in ascending order of id, which is the order of recording. Each transfer is the return
     * of the latest earlier transfer with source and destination exchanged and the same number of bytes that is not yet
     * in a pair. If there is none, the transfer may become the first part of a later pair. Each transfer is therefore
     * in at most one pair, and a return belongs to the nearest matching transfer before it. A copy of a buffer onto
     * itself and a transfer of 0 bytes are in no pair.
     *
     * @param graph a graph
     * @return the pairs in ascending order of {@code back}; the search takes linear time
     */
    public static List<PingPong> pingPongs(ExecutionGraph graph) {
        Map<Route, IntList> waiting = new HashMap<>();
        List<PingPong> pairs = new ArrayList<>();
        for (int id = 0; id < graph.nodeCount(); id++) {
            if (graph.node(id) instanceof Transfer transfer && moves(transfer)) {
                Route route = Route.of(transfer);
                IntList ways = waiting.get(route.back());
                if (ways == null || ways.isEmpty()) {
                    waiting.computeIfAbsent(route, key -> new IntList(1)).add(id);
                } else {
                    pairs.add(new PingPong(ways.removeLast(), id, transfer.bytes()));
                }
            }
        }
        return List.copyOf(pairs);
    }

    private static boolean moves(Transfer transfer) {
        return transfer.bytes() > 0 && !transfer.source().equals(transfer.destination());
    }

    /**
     * A transfer and the later transfer that copied the same amount back. Immutable.
     *
     * @param there the node id of the first transfer
     * @param back the node id of the transfer in the other direction, larger than {@code there}
     * @param bytes the size of each transfer, bytes
     */
    public record PingPong(int there, int back, long bytes) {}
}
