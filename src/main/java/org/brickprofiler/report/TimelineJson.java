package org.brickprofiler.report;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.brickprofiler.internal.base.Plural;
import org.brickprofiler.report.internal.Fields;
import org.brickprofiler.report.internal.JsonInput;
import org.brickprofiler.report.internal.RequestFields;
import org.brickprofiler.report.internal.RequestFields.TimelineOwnWork;
import org.brickprofiler.report.internal.RequestFields.TimelineWork;
import org.brickprofiler.report.internal.Row;
import org.brickprofiler.request.Cause;
import org.brickprofiler.request.RequestRecord;
import org.brickprofiler.request.RequestTimeline;

/**
 * Writes and reads the time line of requests in a report: four tables, of requests, of steps, of the work of steps on
 * requests, and of the own work of threads that serve requests; files of older versions lack the last one. The segments
 * of a request are derived from these tables. One thread.
 */
final class TimelineJson implements JsonInput.KeyReader {

    private final JsonInput input;
    private final List<RequestRecord> requests = new ArrayList<>();
    private final Set<Integer> incomplete = new HashSet<>();
    private final List<RequestTimeline.Step> steps = new ArrayList<>();
    private final List<TimelineWork> works = new ArrayList<>();
    private final List<TimelineOwnWork> ownWorks = new ArrayList<>();
    private final List<String> requestColumns = new ArrayList<>();
    private final List<String> stepColumns = new ArrayList<>();
    private final List<String> workColumns = new ArrayList<>();
    private final List<String> ownWorkColumns = new ArrayList<>();
    private long epochNs;
    private final Row request = new Row(RequestFields.REQUEST);
    private final Row step = new Row(RequestFields.TIMELINE_STEP);
    private final Row work = new Row(RequestFields.TIMELINE_WORK);
    private final Row ownWork = new Row(RequestFields.TIMELINE_OWN_WORK);

    TimelineJson(JsonInput input) {
        this.input = input;
    }

    /** Writes a time line as an object. */
    static void write(JsonGenerator json, RequestTimeline timeline) throws IOException {
        List<RequestTimeline.Request> requests = timeline.requests();
        List<TimelineWork> works = new ArrayList<>();
        List<TimelineOwnWork> ownWorks = new ArrayList<>();
        json.writeStartObject();
        json.writeNumberField("epoch_clock_ns", timeline.epochNs());
        table(
                json,
                "request",
                RequestFields.REQUEST,
                requests.stream().map(RequestTimeline.Request::record).toList());
        json.writeArrayFieldStart("incomplete");
        for (int i = 0; i < requests.size(); i++) {
            int index = i;
            requests.get(i).works().forEach(each -> works.add(new TimelineWork(index, each)));
            requests.get(i).ownWorks().forEach(each -> ownWorks.add(new TimelineOwnWork(index, each)));
            if (!requests.get(i).isComplete()) {
                json.writeNumber(i);
            }
        }
        json.writeEndArray();
        table(json, "step", RequestFields.TIMELINE_STEP, timeline.steps());
        table(json, "work", RequestFields.TIMELINE_WORK, works);
        table(json, "own_work", RequestFields.TIMELINE_OWN_WORK, ownWorks);
        json.writeEndObject();
    }

    private static <T> void table(JsonGenerator json, String name, Fields<T> fields, List<T> rows) throws IOException {
        json.writeFieldName(name + "_columns");
        fields.writeKeys(json);
        json.writeArrayFieldStart(name + "s");
        for (T row : rows) {
            fields.writeCells(json, row);
        }
        json.writeEndArray();
    }

    @Override
    public void read(String key) throws IOException {
        switch (key) {
            case "epoch_clock_ns" -> epochNs = input.whole(key, Long.MIN_VALUE, Long.MAX_VALUE);
            case "request_columns" -> input.array(key, () -> requestColumns.add(input.text("column")));
            case "requests" ->
                input.array(
                        key,
                        () -> requests.add(
                                RequestFields.request(input, request.readCells(input, "request", requestColumns))));
            case "incomplete" -> input.array(key, () -> incomplete.add((int) input.whole(key, 0, Integer.MAX_VALUE)));
            case "step_columns" -> input.array(key, () -> stepColumns.add(input.text("column")));
            case "steps" ->
                input.array(
                        key, () -> steps.add(RequestFields.timelineStep(step.readCells(input, "step", stepColumns))));
            case "work_columns" -> input.array(key, () -> workColumns.add(input.text("column")));
            case "works" ->
                input.array(
                        key, () -> works.add(RequestFields.timelineWork(work.readCells(input, "work", workColumns))));
            case "own_work_columns" -> input.array(key, () -> ownWorkColumns.add(input.text("column")));
            case "own_works" ->
                input.array(
                        key,
                        () -> ownWorks.add(RequestFields.timelineOwnWork(
                                input, ownWork.readCells(input, "own work", ownWorkColumns))));
            default -> input.skip();
        }
    }

    /**
     * Returns the time line. Throws unless the segments of each complete request sum to the request's time of each
     * cause.
     */
    RequestTimeline timeline() throws IOException {
        List<List<RequestTimeline.Work>> worksOf = new ArrayList<>();
        List<List<RequestTimeline.OwnWork>> ownWorksOf = new ArrayList<>();
        for (int i = 0; i < requests.size(); i++) {
            worksOf.add(new ArrayList<>());
            ownWorksOf.add(new ArrayList<>());
        }
        for (TimelineWork each : works) {
            ofRequest(worksOf, each.request()).add(each.work());
        }
        for (TimelineOwnWork each : ownWorks) {
            ofRequest(ownWorksOf, each.request()).add(each.work());
        }
        List<RequestTimeline.Request> all = new ArrayList<>();
        for (int i = 0; i < requests.size(); i++) {
            all.add(new RequestTimeline.Request(
                    requests.get(i), worksOf.get(i), ownWorksOf.get(i), !incomplete.contains(i)));
        }
        RequestTimeline timeline;
        try {
            timeline = new RequestTimeline(steps, all, epochNs);
        } catch (IllegalArgumentException wrong) {
            throw input.error("the time line of requests is wrong: " + wrong.getMessage());
        }
        List<List<RequestTimeline.Segment>> segments = timeline.segments();
        for (int i = 0; i < all.size(); i++) {
            if (all.get(i).isComplete()) {
                requireAgreement(i, segments.get(i));
            }
        }
        return timeline;
    }

    private <T> List<T> ofRequest(List<List<T>> lists, int request) throws IOException {
        if (request >= lists.size()) {
            throw input.error("there is work on request " + request + ", and there are only "
                    + Plural.of(lists.size(), "request"));
        }
        return lists.get(request);
    }

    private void requireAgreement(int index, List<RequestTimeline.Segment> segments) throws IOException {
        for (Cause cause : Cause.values()) {
            long ns = segments.stream()
                    .filter(segment -> segment.cause() == cause)
                    .mapToLong(RequestTimeline.Segment::durationNs)
                    .sum();
            if (ns != requests.get(index).causeNs(cause)) {
                throw input.error("request " + index + " of the time line has " + ns + " ns of "
                        + cause.displayName() + " by its steps, and "
                        + requests.get(index).causeNs(cause) + " ns by its causes");
            }
        }
    }
}
