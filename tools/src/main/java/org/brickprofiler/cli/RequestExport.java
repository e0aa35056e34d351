package org.brickprofiler.cli;

import java.util.List;
import java.util.Objects;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.report.internal.CsvCells;
import org.brickprofiler.report.internal.Fields;
import org.brickprofiler.report.internal.JsonText;
import org.brickprofiler.report.internal.RequestFields;
import org.brickprofiler.request.RequestRecord;
import org.brickprofiler.request.RequestTimeline;

/**
 * The requests that a profile keeps, the latest 1,024 that finished, in forms for other programs. Stateless; any
 * thread.
 */
final class RequestExport {

    private static final List<Fields.Column<RequestRecord>> COLUMNS = RequestFields.REQUEST.columns();

    private RequestExport() {}

    /**
     * Returns the requests as comma-separated values (RFC 4180): a header with the keys of a request in the JSON
     * report, then a line for each request, in the order of their finish. Each line ends with CR LF.
     *
     * @param snapshot the profile
     * @return the table
     */
    static String toCsv(ProfileSnapshot snapshot) {
        StringBuilder csv = new StringBuilder();
        CsvCells.addLine(csv, COLUMNS.stream().map(Fields.Column::key).toList());
        for (RequestRecord request : requests(snapshot)) {
            CsvCells.addLine(
                    csv,
                    COLUMNS.stream().map(column -> column.value().of(request)).toList());
        }
        return csv.toString();
    }

    /**
     * Returns the requests with the fields of a response of Ollama's API: a JSON array with an object for each request,
     * in the order of their finish. {@code total_duration} is the time from arrival to finish, {@code load_duration}
     * the time in which it was queued, since Ollama's contains the wait for a runner, {@code prompt_eval_duration} the
     * rest of the time to the first token, with the tokenizer of its own thread, and {@code eval_duration} the time
     * from the first to the last token; all in ns. {@code prompt_eval_count} are the tokens of the prompt,
     * {@code eval_count} those of the answer.
     *
     * @param snapshot the profile
     * @return indented JSON that ends with a line break
     */
    static String toOllama(ProfileSnapshot snapshot) {
        List<RequestRecord> requests = requests(snapshot);
        return JsonText.of(
                json -> {
                    json.writeStartArray();
                    for (RequestRecord request : requests) {
                        long toPromptNs = Math.min(request.queueNs(), request.timeToFirstTokenNs());
                        json.writeStartObject();
                        json.writeNumberField("total_duration", request.durationNs());
                        json.writeNumberField("load_duration", request.queueNs());
                        json.writeNumberField("prompt_eval_count", request.promptTokens());
                        json.writeNumberField("prompt_eval_duration", request.timeToFirstTokenNs() - toPromptNs);
                        json.writeNumberField("eval_count", request.outputTokens());
                        json.writeNumberField("eval_duration", request.firstToLastTokenNs());
                        json.writeEndObject();
                    }
                    json.writeEndArray();
                    json.writeRaw('\n');
                },
                JsonText.indented());
    }

    private static List<RequestRecord> requests(ProfileSnapshot snapshot) {
        return Objects.requireNonNull(snapshot, "snapshot").requestTimeline().requests().stream()
                .map(RequestTimeline.Request::record)
                .toList();
    }
}
