package org.brickprofiler.agent;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.brickprofiler.agent.WeaveRule.Anchor;
import org.brickprofiler.agent.WeaveRule.Call;
import org.brickprofiler.agent.WeaveRule.Kind;
import org.brickprofiler.request.Outcome;
import org.jspecify.annotations.Nullable;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.FrameNode;
import org.objectweb.asm.tree.InsnList;
import org.objectweb.asm.tree.InsnNode;
import org.objectweb.asm.tree.IntInsnNode;
import org.objectweb.asm.tree.LabelNode;
import org.objectweb.asm.tree.LdcInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.TryCatchBlockNode;
import org.objectweb.asm.tree.VarInsnNode;

/**
 * Weaves the spans of one method. Used once, by one thread.
 *
 * <p>A span is open from its begin to its end. A data-flow analysis over the method's instructions, including
 * exceptional paths, finds the instructions at which a span is open and those from which it can still reach its end. A
 * span is closed when control leaves it by a jump, a return or the application's exception handler. If an exception
 * leaves the method, a generated handler closes the span; a span whose instructions cannot throw has none.
 *
 * <p>Timers are kept in new local variables after the method's own; spans of one kind that are never open together
 * share a variable. If some paths reach an instruction with the span open and others do not, the variable is 0 on the
 * latter, and stopping timer 0 does nothing. If all paths agree, the variable needs no initial value.
 */
final class MethodWeaver {

    static final String BRIDGE = "org/brickprofiler/agent/bridge/Bridge";

    private static final String JDK_BRIDGE = "org/brickprofiler/agent/bridge/JdkBridge";

    /** The maximum number of stack slots that woven code needs: an int and four longs. */
    private static final int STACK = 9;

    /** The stack depth in a handler: the exception. */
    private static final int HANDLER_STACK = 1;

    private final MethodNode method;

    /** The class that our code calls. */
    private final String bridge;

    private final List<WovenSpan> spans = new ArrayList<>();
    private final Map<AbstractInsnNode, List<Marker>> before = new HashMap<>();
    private final Map<AbstractInsnNode, List<Marker>> after = new HashMap<>();

    private SpanVariables[] tracks = {};
    private AbstractInsnNode[] nodes = {};
    private int[][] successors = {};

    /** The exception handlers of each instruction, as indices. */
    private int[][] handlers = {};

    private BitSet[] mayBeOpen = {};
    private BitSet[] mustBeOpen = {};
    private BitSet[] canEnd = {};

    /** The span of one rule in this method. */
    private static final class WovenSpan {
        final int index;
        final WeaveRule rule;
        final int key;
        final InsnList elements;

        /** The code for the id of a request; empty if the rule states none. */
        final InsnList id;

        /** The code for the model of a request; empty if the rule states none. */
        final InsnList requestModel;

        /** The code for the work; empty if the rule states none. */
        final InsnList product;

        /** The code for each number of a model; empty for the other kinds. */
        final List<InsnList> model;

        /** The code that precedes that for elements and work. */
        final InsnList spill;

        /** The code for the outcome of a request at the span's end; empty for the other kinds. */
        final InsnList outcome;

        /** The instructions at which the span begins, each with whether it begins before the instruction. */
        final Map<AbstractInsnNode, Boolean> begins;

        final Map<AbstractInsnNode, Boolean> ends;

        SpanVariables track = new SpanVariables(Kind.BRICK);

        WovenSpan(
                int index,
                WeaveRule rule,
                int key,
                ElementsCode code,
                InsnList product,
                Map<AbstractInsnNode, Boolean> begins,
                Map<AbstractInsnNode, Boolean> ends) {
            this.index = index;
            this.rule = rule;
            this.key = key;
            this.product = product;
            elements = rule.kind() == Kind.MODEL ? new InsnList() : code.code();
            model = rule.kind() == Kind.MODEL ? code.model() : List.of();
            id = code.name(rule.id());
            requestModel = code.name(rule.requestModel());
            spill = code.spill();
            outcome = rule.kind().hasOutcome() ? code.outcome() : new InsnList();
            this.begins = begins;
            this.ends = ends;
        }

        boolean isPlace() {
            return rule.kind().isPlace();
        }

        /**
         * Returns whether both rules would count the same execution: the spans are equal, or they are of the same brick
         * and share a begin and an end.
         */
        boolean isCountedBy(WovenSpan other) {
            if (rule.kind() != other.rule.kind()) {
                return false;
            }
            boolean isSame = begins.equals(other.begins) && ends.equals(other.ends);
            return isSame
                    || (key == other.key
                            && !Collections.disjoint(begins.entrySet(), other.begins.entrySet())
                            && !Collections.disjoint(ends.entrySet(), other.ends.entrySet()));
        }
    }

    /** The place at which a span begins or ends. A label, so that it adds nothing to the class file. */
    private static final class Marker extends LabelNode {
        final WovenSpan span;
        final boolean begins;

        Marker(WovenSpan span, boolean begins) {
            this.span = span;
            this.begins = begins;
        }
    }

    /** The local variables that one or more spans use. */
    private static final class SpanVariables {
        final Kind kind;
        final List<WovenSpan> spans = new ArrayList<>();

        /** Whether at every instruction all paths agree on whether the span is open. */
        boolean exact = true;

        int timer;

        /** The local variable of the elements; -1 if all spans have the same constant. */
        int elements = -1;

        SpanVariables(Kind kind) {
            this.kind = kind;
        }

        boolean hasElements() {
            return kind == Kind.BRICK;
        }

        boolean sameConstant() {
            return spans.stream()
                    .allMatch(span -> span.rule.elements().isConstant()
                            && span.rule.elements().equals(spans.get(0).rule.elements()));
        }
    }

    /**
     * Creates a weaver.
     *
     * @param method the method
     * @param isOfJdk whether its class belongs to the JDK, so that the profiler itself may call it
     */
    MethodWeaver(MethodNode method, boolean isOfJdk) {
        this.method = method;
        bridge = isOfJdk ? JDK_BRIDGE : BRIDGE;
    }

    /**
     * Adds a rule's spans in this method.
     *
     * @param rule a rule of any kind but a task
     * @param key the brick's key; ignored for the other kinds
     * @param code generates the code for the rule's numbers
     * @return the reason why the work that the rule states cannot be computed; empty if it can
     * @throws IllegalArgumentException when the method lacks the place that the rule names, or another rule has the
     *     same span
     */
    Optional<String> add(WeaveRule rule, int key, ElementsCode code) {
        Optional<String> problem = Optional.empty();
        InsnList product = new InsnList();
        try {
            product = code.product();
        } catch (IllegalArgumentException wrong) {
            product = ElementsCode.unknownProduct();
            problem = Optional.of("work: " + wrong.getMessage());
        }
        WovenSpan span = new WovenSpan(
                spans.size(),
                rule,
                key,
                code,
                product,
                places(rule.from()),
                rule.kind().isPlace() ? Map.of() : places(rule.to()));
        for (WovenSpan other : spans) {
            if (span.isCountedBy(other)) {
                throw new IllegalArgumentException(
                        "the span from " + rule.from() + " to " + rule.to() + " of " + method.name
                                + " would count twice: the rule of line " + other.rule.line() + " has it already");
            }
        }
        span.begins.forEach((node, isBefore) -> mark(node, isBefore, new Marker(span, true)));
        span.ends.forEach((node, isBefore) -> mark(node, isBefore, new Marker(span, false)));
        spans.add(span);
        return problem;
    }

    private void mark(AbstractInsnNode node, boolean isBefore, Marker marker) {
        (isBefore ? before : after)
                .computeIfAbsent(node, none -> new ArrayList<>())
                .add(marker);
    }

    /** Returns the instructions that an anchor names, each with whether the place is before the instruction. */
    private Map<AbstractInsnNode, Boolean> places(Anchor anchor) {
        Map<AbstractInsnNode, Boolean> places = new LinkedHashMap<>();
        Call call = anchor.call();
        AbstractInsnNode initialising = method.name.equals("<init>") ? initialising(method) : null;
        if (call != null) {
            boolean isBefore = anchor.place() == Anchor.Place.BEFORE;
            for (AbstractInsnNode node : calls(method, call)) {
                int since = initialising == null
                        ? 1
                        : method.instructions.indexOf(node) - method.instructions.indexOf(initialising);
                if (since < 0 || (since == 0 && isBefore)) {
                    throw new IllegalArgumentException(anchor + " lies before the object exists");
                }
                places.put(node, isBefore);
            }
        } else if (anchor.place() == Anchor.Place.ENTRY && initialising != null) {
            places.put(initialising, false);
        } else if (anchor.place() == Anchor.Place.ENTRY) {
            places.put(method.instructions.getFirst(), true);
        } else {
            for (AbstractInsnNode node : method.instructions) {
                if (node.getOpcode() >= Opcodes.IRETURN && node.getOpcode() <= Opcodes.RETURN) {
                    places.put(node, true);
                }
            }
        }
        return places;
    }

    /**
     * Returns the {@code this(...)} or {@code super(...)} call of a constructor: the first call that initialises no
     * object created in the constructor.
     */
    private static AbstractInsnNode initialising(MethodNode constructor) {
        int made = 0;
        for (AbstractInsnNode node : constructor.instructions) {
            if (node.getOpcode() == Opcodes.NEW) {
                made++;
            } else if (node instanceof MethodInsnNode call && call.name.equals("<init>") && made-- == 0) {
                return node;
            }
        }
        throw new IllegalArgumentException("a constructor of no other");
    }

    /**
     * Returns the calls in a method that a rule names.
     *
     * @throws IllegalArgumentException when there is no such call
     */
    static List<MethodInsnNode> calls(MethodNode method, Call call) {
        List<MethodInsnNode> found = new ArrayList<>();
        List<String> others = new ArrayList<>();
        for (AbstractInsnNode node : method.instructions) {
            if (node instanceof MethodInsnNode each) {
                String owner =
                        each.owner.substring(1 + Math.max(each.owner.lastIndexOf('/'), each.owner.lastIndexOf('$')));
                if (each.name.equals(call.name())
                        && (call.owner() == null || call.owner().equals(owner))) {
                    found.add(each);
                }
                others.add(call.owner() == null ? each.name : owner + '.' + each.name);
            }
        }
        if (found.isEmpty()) {
            throw new IllegalArgumentException(
                    method.name + " does not call " + call.text() + ClosestNames.hint(call.text(), others.stream()));
        }
        if (call.number() > found.size()) {
            throw new IllegalArgumentException(method.name + " calls " + call.text() + " at " + found.size()
                    + " places, and not at " + call.number());
        }
        return call.number() == Call.EACH ? found : List.of(found.get(call.number() - 1));
    }

    /**
     * Weaves the spans into the method.
     *
     * @return the rules whose spans cannot reach their end from their begin; if there are any, nothing is woven
     */
    List<WeaveRule> weave() {
        insertMarkers();
        nodes = method.instructions.toArray();
        connect();
        findWhatCanEnd();
        List<WeaveRule> endless = endless();
        if (!endless.isEmpty()) {
            return endless;
        }
        keepWhatIsThrown();
        mayBeOpen = open(true);
        mustBeOpen = open(false);
        assignTracks();
        Map<AbstractInsnNode, InsnList> code = new HashMap<>();
        addCode(code);
        extendFrames();
        coverOpenSpans(code);
        InsnList start = new InsnList();
        for (SpanVariables track : tracks) {
            if (!track.exact) {
                zero(start, track.timer);
                if (track.elements >= 0) {
                    zero(start, track.elements);
                }
            }
        }
        method.instructions.insert(start);
        method.maxStack = Math.max(method.maxStack, HANDLER_STACK) + STACK;
        return List.of();
    }

    // ---- where spans begin and end ----

    private void insertMarkers() {
        Comparator<Marker> outermostFirst = Comparator.<Marker, Kind>comparing(marker -> marker.span.rule.kind())
                .thenComparingInt(marker -> marker.span.index);
        Comparator<Marker> order = (one, other) -> {
            if (one.begins != other.begins) {
                return one.begins ? 1 : -1;
            }
            return one.begins ? outermostFirst.compare(one, other) : outermostFirst.compare(other, one);
        };
        before.forEach((node, markers) -> {
            markers.sort(order);
            markers.forEach(marker -> method.instructions.insertBefore(node, marker));
        });
        after.forEach((node, markers) -> {
            markers.sort(order.reversed());
            markers.forEach(marker -> method.instructions.insert(node, marker));
        });
    }

    private void connect() {
        Map<AbstractInsnNode, Integer> index = new HashMap<>();
        for (int i = 0; i < nodes.length; i++) {
            index.put(nodes[i], i);
        }
        successors = new int[nodes.length][];
        for (int i = 0; i < nodes.length; i++) {
            successors[i] = Flow.successors(nodes[i], i, index);
        }
        handlers = new int[nodes.length][0];
        for (TryCatchBlockNode block : method.tryCatchBlocks) {
            int handler = index.getOrDefault(block.handler, 0);
            for (int i = index.getOrDefault(block.start, 0); i < index.getOrDefault(block.end, 0); i++) {
                handlers[i] = Flow.with(handlers[i], handler);
            }
        }
    }

    /** Finds the instructions from which the end of each span can be reached without passing its begin again. */
    private void findWhatCanEnd() {
        canEnd = Flow.empty(nodes.length);
        boolean changed = true;
        while (changed) {
            changed = false;
            for (int i = nodes.length - 1; i >= 0; i--) {
                BitSet ends = new BitSet();
                for (int next : successors[i]) {
                    ends.or(canEnd[next]);
                }
                for (int next : handlers[i]) {
                    ends.or(canEnd[next]);
                }
                if (nodes[i] instanceof Marker marker && !marker.span.isPlace()) {
                    ends.set(marker.span.index, !marker.begins);
                }
                if (!ends.equals(canEnd[i])) {
                    canEnd[i] = ends;
                    changed = true;
                }
            }
        }
    }

    /** Keeps a span open on paths that only throw out of the method: the generated handler closes it. */
    private void keepWhatIsThrown() {
        BitSet returns = new BitSet();
        BitSet throwing = new BitSet();
        boolean changed = true;
        while (changed) {
            changed = false;
            for (int i = nodes.length - 1; i >= 0; i--) {
                int opcode = nodes[i].getOpcode();
                changed |= reach(returns, i, opcode >= Opcodes.IRETURN && opcode <= Opcodes.RETURN);
                changed |= reach(throwing, i, opcode == Opcodes.ATHROW);
            }
        }
        throwing.andNot(returns);
        throwing.stream().forEach(i -> canEnd[i].set(0, spans.size()));
    }

    private boolean reach(BitSet reaching, int i, boolean isThere) {
        if (reaching.get(i)) {
            return false;
        }
        boolean reaches = isThere;
        for (int next : successors[i]) {
            reaches |= reaching.get(next);
        }
        for (int next : handlers[i]) {
            reaches |= reaching.get(next);
        }
        reaching.set(i, reaches);
        return reaches;
    }

    /**
     * Computes the spans that are open before each instruction.
     *
     * @param may true for the spans that are open on some path there; false for those that are open on all paths
     */
    private BitSet[] open(boolean may) {
        BitSet[] open = new BitSet[nodes.length];
        open[0] = new BitSet();
        boolean changed = true;
        while (changed) {
            changed = false;
            for (int i = 0; i < nodes.length; i++) {
                if (open[i] != null) {
                    BitSet left = openAfter(i, open[i]);
                    for (int next : successors[i]) {
                        changed |= Flow.meet(open, next, left, may);
                    }
                    for (int next : handlers[i]) {
                        changed |= Flow.meet(open, next, open[i], may);
                        changed |= Flow.meet(open, next, left, may);
                    }
                }
            }
        }
        for (int i = 0; i < open.length; i++) {
            if (open[i] == null) {
                open[i] = new BitSet();
            }
        }
        return open;
    }

    private BitSet openAfter(int i, BitSet openBefore) {
        BitSet open = (BitSet) openBefore.clone();
        if (isCode(i)) {
            open.and(canEnd[i]);
        }
        if (nodes[i] instanceof Marker marker && !marker.span.isPlace()) {
            // A span that begins here is open afterwards in any case, whatever canEnd contains for it here.
            open = (BitSet) openBefore.clone();
            BitSet kept = (BitSet) canEnd[i].clone();
            kept.set(marker.span.index);
            open.and(kept);
            open.set(marker.span.index, marker.begins);
        }
        return open;
    }

    /**
     * Returns whether code can be generated at a node: at an instruction or a marker, not at a label, frame or line
     * number.
     */
    private boolean isCode(int i) {
        return nodes[i].getOpcode() >= 0 || nodes[i] instanceof Marker;
    }

    private List<WeaveRule> endless() {
        List<WeaveRule> rules = new ArrayList<>();
        for (int i = 0; i < nodes.length; i++) {
            if (nodes[i] instanceof Marker marker && marker.begins && !marker.span.isPlace()) {
                BitSet next = new BitSet();
                for (int each : successors[i]) {
                    next.or(canEnd[each]);
                }
                if (!next.get(marker.span.index)) {
                    rules.add(marker.span.rule);
                }
            }
        }
        return rules;
    }

    // ---- local variables ----

    private void assignTracks() {
        List<SpanVariables> all = new ArrayList<>();
        for (WovenSpan span : spans) {
            if (span.isPlace()) {
                continue;
            }
            SpanVariables track = all.stream()
                    .filter(each -> each.kind == span.rule.kind() && !isOpenBesides(each, span))
                    .findFirst()
                    .orElseGet(() -> {
                        SpanVariables added = new SpanVariables(span.rule.kind());
                        all.add(added);
                        return added;
                    });
            track.spans.add(span);
            span.track = track;
        }
        tracks = all.toArray(SpanVariables[]::new);
        for (SpanVariables track : tracks) {
            track.timer = method.maxLocals;
            method.maxLocals += 2;
            if (track.hasElements() && !track.sameConstant()) {
                track.elements = method.maxLocals;
                method.maxLocals += 2;
            }
            track.exact = isExact(track);
        }
    }

    private boolean isOpenBesides(SpanVariables track, WovenSpan span) {
        for (int i = 0; i < nodes.length; i++) {
            BitSet open = (BitSet) mayBeOpen[i].clone();
            open.or(openAfter(i, mayBeOpen[i]));
            if (open.get(span.index) && isOpen(track, open)) {
                return true;
            }
        }
        return false;
    }

    private boolean isExact(SpanVariables track) {
        for (int i = 0; i < nodes.length; i++) {
            if (isOpen(track, mayBeOpen[i]) != isOpen(track, mustBeOpen[i])) {
                return false;
            }
        }
        return true;
    }

    private static boolean isOpen(SpanVariables track, BitSet open) {
        return track.spans.stream().anyMatch(span -> open.get(span.index));
    }

    // ---- code ----

    private void addCode(Map<AbstractInsnNode, InsnList> code) {
        for (int i = 0; i < nodes.length; i++) {
            if (!isCode(i)) {
                continue;
            }
            InsnList here = new InsnList();
            BitSet left = (BitSet) mayBeOpen[i].clone();
            left.andNot(canEnd[i]);
            Marker marker = nodes[i] instanceof Marker each ? each : null;
            if (marker != null && !marker.span.isPlace()) {
                // The span reaches its end, or begins again while it is open.
                left.set(marker.span.index, mayBeOpen[i].get(marker.span.index));
            }
            for (SpanVariables track : innermostFirst()) {
                if (isOpen(track, left)) {
                    boolean atEnd = marker != null && !marker.begins && marker.span.track == track;
                    stop(here, track, marker != null && atEnd ? marker.span.outcome : outcome(isCaught(i)));
                    if (!track.exact && !(marker != null && marker.begins && marker.span.track == track)) {
                        zero(here, track.timer);
                    }
                }
            }
            if (marker != null && marker.begins) {
                start(here, marker.span);
            }
            if (here.size() > 0) {
                code.put(nodes[i], here);
            }
        }
        code.forEach((node, instructions) -> {
            if (node instanceof Marker) {
                method.instructions.insert(node, instructions);
            } else {
                method.instructions.insertBefore(node, instructions);
            }
        });
    }

    /** Returns the code for the outcome of a request whose span is left before its end. */
    private static InsnList outcome(boolean failed) {
        InsnList code = new InsnList();
        code.add(Outcomes.push(failed ? Outcome.FAILED : Outcome.COMPLETED));
        return code;
    }

    /** Returns whether an instruction is the first one of an exception handler of the application. */
    private boolean isCaught(int i) {
        for (int at = i - 1; at >= 0 && !isCode(at); at--) {
            AbstractInsnNode node = nodes[at];
            if (method.tryCatchBlocks.stream().anyMatch(block -> block.handler == node)) {
                return true;
            }
        }
        return false;
    }

    private List<SpanVariables> innermostFirst() {
        List<SpanVariables> all = new ArrayList<>(List.of(tracks));
        Collections.reverse(all);
        all.sort(Comparator.comparing((SpanVariables track) -> track.kind).reversed());
        return all;
    }

    private void start(InsnList code, WovenSpan span) {
        code.add(Flow.copy(span.spill));
        if (span.rule.kind() == Kind.MODEL) {
            for (int i = 0; i < span.model.size(); i++) {
                code.add(key(i));
                code.add(Flow.copy(span.model.get(i)));
                code.add(call("model", "(IJ)V"));
            }
            return;
        }
        if (span.isPlace()) {
            code.add(Flow.copy(span.elements));
            code.add(call("inStep", "(Ljava/lang/Object;JJ)V"));
            return;
        }
        SpanVariables track = span.track;
        if (span.product.size() > 0) {
            // The work is recorded before the timer starts, so that the brick's time does not include this call.
            code.add(key(span.rule.product().orElseThrow().number()));
            code.add(Flow.copy(span.product));
            code.add(call("product", "(IJJJJ)V"));
        }
        if (track.elements >= 0) {
            code.add(Flow.copy(span.elements));
            code.add(new VarInsnNode(Opcodes.LSTORE, track.elements));
        }
        switch (track.kind) {
            case BRICK -> {
                code.add(key(span.key));
                code.add(call("startBrick", "(I)J"));
            }
            case LAYER -> {
                code.add(Flow.copy(span.elements));
                code.add(call("startLayer", "(J)J"));
            }
            case PROMPT -> {
                code.add(Flow.copy(span.elements));
                code.add(call("startPrompt", "(JJ)J"));
            }
            case ARRIVAL -> {
                code.add(Flow.copy(span.elements));
                code.add(new LdcInsnNode(span.rule.arrival()));
                code.add(call("startArrival", "(Ljava/lang/Object;JLjava/lang/String;)J"));
            }
            case FINISH -> {
                code.add(Flow.copy(span.elements));
                code.add(call("startFinish", "(Ljava/lang/Object;)J"));
            }
            case REQUEST -> {
                code.add(Flow.copy(span.elements));
                if (span.rule.request().isConstant()) {
                    code.add(new LdcInsnNode(span.rule.arrival()));
                    code.add(call("startRequest", "(JLjava/lang/String;)J"));
                } else {
                    code.add(call("serveArrived", "(Ljava/lang/Object;J)J"));
                }
            }
            case STEP, IN_STEP, MODEL, TASK -> {
                code.add(Flow.copy(span.elements));
                code.add(call("startStep", "(JJJZ)J"));
            }
        }
        name(code, track, span.id, "nameRequest");
        name(code, track, span.requestModel, "modelRequest");
        code.add(new VarInsnNode(Opcodes.LSTORE, track.timer));
    }

    /** Adds the code that passes the id or the model of the request on the stack to a method of the bridge. */
    private void name(InsnList code, SpanVariables track, InsnList value, String method) {
        if (value.size() > 0) {
            code.add(new InsnNode(Opcodes.DUP2));
            code.add(new InsnNode(track.kind == Kind.REQUEST ? Opcodes.ICONST_1 : Opcodes.ICONST_0));
            code.add(Flow.copy(value));
            code.add(call(method, "(JZLjava/lang/Object;)V"));
        }
    }

    private static AbstractInsnNode key(int key) {
        if (key <= Byte.MAX_VALUE) {
            return new IntInsnNode(Opcodes.BIPUSH, key);
        }
        return key <= Short.MAX_VALUE ? new IntInsnNode(Opcodes.SIPUSH, key) : new LdcInsnNode(key);
    }

    /**
     * Adds the code that ends a span.
     *
     * @param outcome the code for the outcome of a request's span; for a span of another kind, the code of a failure if
     *     an exception leaves the span
     */
    private void stop(InsnList code, SpanVariables track, InsnList outcome) {
        if (track.kind == Kind.ARRIVAL && !isFailure(outcome)) {
            // The request continues after its arrival. Only an exception ends it, for example if a full queue rejects
            // the request.
            return;
        }
        if (track.kind == Kind.ARRIVAL || track.kind.hasOutcome()) {
            code.add(Flow.copy(outcome));
        }
        code.add(new VarInsnNode(Opcodes.LLOAD, track.timer));
        if (track.hasElements()) {
            code.add(
                    track.elements >= 0
                            ? new VarInsnNode(Opcodes.LLOAD, track.elements)
                            : ElementsCode.constant(
                                    track.spans.get(0).rule.elements().constant()));
        }
        switch (track.kind) {
            case BRICK -> code.add(call("stopBrick", "(JJ)V"));
            case LAYER -> code.add(call("endLayer", "(J)V"));
            case PROMPT -> code.add(call("endPrompt", "(J)V"));
            case REQUEST -> code.add(call("endRequest", "(IJ)V"));
            case ARRIVAL, FINISH -> code.add(call("endFinish", "(IJ)V"));
            case STEP, IN_STEP, MODEL, TASK -> code.add(call(isFailure(outcome) ? "failStep" : "endStep", "(J)V"));
        }
    }

    private static boolean isFailure(InsnList outcome) {
        return outcome.size() == 1
                && outcome.getFirst().getOpcode()
                        == Outcomes.push(Outcome.FAILED).getOpcode();
    }

    private static void zero(InsnList code, int variable) {
        code.add(new InsnNode(Opcodes.LCONST_0));
        code.add(new VarInsnNode(Opcodes.LSTORE, variable));
    }

    private MethodInsnNode call(String name, String descriptor) {
        return new MethodInsnNode(Opcodes.INVOKESTATIC, bridge, name, descriptor, false);
    }

    // ---- frames, and exceptions that leave the method ----

    private void extendFrames() {
        for (int i = 0; i < nodes.length; i++) {
            if (nodes[i] instanceof FrameNode frame) {
                BitSet open = mayBeOpen[i];
                List<Object> locals = new ArrayList<>(frame.local == null ? List.of() : frame.local);
                int size = 0;
                for (Object local : locals) {
                    size += local == Opcodes.LONG || local == Opcodes.DOUBLE ? 2 : 1;
                }
                addTracks(locals, size, open);
                frame.local = locals;
            }
        }
    }

    /** Adds the types of the generated variables after the method's own. */
    private void addTracks(List<Object> locals, int size, BitSet open) {
        int at = size;
        for (SpanVariables track : tracks) {
            if (!track.exact || isOpen(track, open)) {
                for (int variable : new int[] {track.timer, track.elements}) {
                    if (variable >= 0) {
                        for (; at < variable; at++) {
                            locals.add(Opcodes.TOP);
                        }
                        locals.add(Opcodes.LONG);
                        at += 2;
                    }
                }
            }
        }
    }

    /**
     * Covers each run of instructions that have the same spans open with a handler, which closes the spans and
     * rethrows. A run begins with an instruction that may throw: if there is none, no handler is added.
     */
    private void coverOpenSpans(Map<AbstractInsnNode, InsnList> code) {
        Map<BitSet, LabelNode> handlerOf = new LinkedHashMap<>();
        BitSet covered = new BitSet();
        @Nullable LabelNode start = null;
        for (int i = 0; i <= nodes.length; i++) {
            BitSet open = i < nodes.length ? openTracks(i) : new BitSet();
            boolean cut = i == nodes.length || code.containsKey(nodes[i]);
            if (start != null && (cut || (nodes[i].getOpcode() >= 0 && !open.equals(covered)))) {
                LabelNode end = new LabelNode();
                AbstractInsnNode last = nodes[i - 1];
                method.instructions.insert(last, end);
                LabelNode handler = handlerOf.computeIfAbsent(covered, none -> new LabelNode());
                method.tryCatchBlocks.add(new TryCatchBlockNode(start, end, handler, null));
                start = null;
            }
            if (i < nodes.length && start == null && !open.isEmpty() && Flow.mayThrow(nodes[i])) {
                start = new LabelNode();
                method.instructions.insertBefore(nodes[i], start);
                covered = open;
            }
        }
        handlerOf.forEach(this::addHandler);
    }

    /** Returns the tracks that are open at an instruction, after the generated code that precedes it. */
    private BitSet openTracks(int i) {
        BitSet open = openAfter(i, mayBeOpen[i]);
        BitSet result = new BitSet();
        for (int t = 0; t < tracks.length; t++) {
            result.set(t, isOpen(tracks[t], open));
        }
        return result;
    }

    private void addHandler(BitSet open, LabelNode label) {
        InsnList handler = new InsnList();
        BitSet spansOpen = new BitSet();
        for (WovenSpan span : spans) {
            spansOpen.set(
                    span.index, !span.isPlace() && open.get(List.of(tracks).indexOf(span.track)));
        }
        List<Object> locals = new ArrayList<>();
        addTracks(locals, 0, spansOpen);
        handler.add(label);
        handler.add(
                new FrameNode(Opcodes.F_NEW, locals.size(), locals.toArray(), 1, new Object[] {"java/lang/Throwable"}));
        for (SpanVariables track : innermostFirst()) {
            if (isOpen(track, spansOpen)) {
                stop(handler, track, outcome(true));
            }
        }
        handler.add(new InsnNode(Opcodes.ATHROW));
        method.instructions.add(handler);
    }
}
