package org.brickprofiler.agent;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.request.Outcome;
import org.jspecify.annotations.Nullable;

/**
 * A rule: a span of a method, and the meaning of the span. Immutable.
 *
 * @param line its line in the file of rules, from 1
 * @param kind the kind of the span
 * @param target the method that is woven
 * @param from the place at which the span begins
 * @param to the place at which it ends
 * @param brick the brick's name; empty for the other kinds
 * @param category the category of a dynamic brick
 * @param amounts the numbers that each execution reports
 */
record WeaveRule(
        int line,
        Kind kind,
        Target target,
        Anchor from,
        Anchor to,
        String brick,
        Optional<BrickCategory> category,
        Amounts amounts) {

    /**
     * The kinds of rules. The order is that of spans, from the outermost to the innermost. {@link #IN_STEP} and
     * {@link #MODEL} are places within a step; a {@link #TASK} is neither a span nor a place.
     */
    enum Kind {
        ARRIVAL,
        FINISH,
        REQUEST,
        PROMPT,
        STEP,
        IN_STEP,
        MODEL,
        LAYER,
        BRICK,
        TASK;

        /** Returns whether the rule is one of requests. */
        boolean isOfRequests() {
            return this == ARRIVAL || this == FINISH || this == REQUEST || this == IN_STEP;
        }

        /** Returns whether the kind is a place rather than a span: a place has no end and needs no variable. */
        boolean isPlace() {
            return this == IN_STEP || this == MODEL;
        }

        /** Returns whether the span ends with an outcome of a request. */
        boolean hasOutcome() {
            return this == FINISH || this == REQUEST;
        }
    }

    /**
     * A method, or a lambda within it.
     *
     * @param className the binary name of its class
     * @param method its name
     * @param parameters the names of its parameter types; null if the class has only one method of that name
     * @param lambda the call that the lambda is passed to; null for the method itself
     */
    record Target(
            String className,
            String method,
            @Nullable List<String> parameters,
            @Nullable Call lambda) {
        @Override
        public String toString() {
            return className
                    + '.'
                    + method
                    + (parameters == null ? "" : "(" + String.join(", ", parameters) + ")")
                    + (lambda == null ? "" : ", the lambda for " + lambda);
        }
    }

    /**
     * A call in the code of a method.
     *
     * @param owner the simple name of the class whose method is called; null for any
     * @param name the name of the method that is called
     * @param number the position among the calls of that name, from 1 in the order of the code; {@link #EACH} for all
     *     of them
     */
    record Call(@Nullable String owner, String name, int number) {

        static final int EACH = 0;

        /** Its name without the number. */
        String text() {
            return owner == null ? name : owner + '.' + name;
        }

        @Override
        public String toString() {
            return number == EACH ? text() : text() + ' ' + number;
        }
    }

    /**
     * A place in the code of a method.
     *
     * @param place the kind of place
     * @param call the call before or after the place; null at the entry and the exit of the method
     */
    record Anchor(Place place, @Nullable Call call) {

        static final Anchor ENTRY = new Anchor(Place.ENTRY, null);
        static final Anchor EXIT = new Anchor(Place.EXIT, null);

        enum Place {
            ENTRY,
            EXIT,
            BEFORE,
            AFTER
        }

        @Override
        public String toString() {
            String name = place.name().toLowerCase(Locale.ROOT);
            return call == null ? name : name + ' ' + call;
        }
    }

    /**
     * A number, or a path to it: a parameter, {@code this}, or an argument or the receiver of the call before which the
     * span begins, followed by fields, array lengths and calls without arguments.
     *
     * @param constant the number if the path is empty
     * @param path the names on the path; names of methods end with parentheses
     */
    record Elements(long constant, List<String> path) {

        static final Elements COUNTED = new Elements(-1, List.of());

        /** Stands for a number that the rule does not state and that the profiler derives from other data. */
        static final Elements UNKNOWN = new Elements(Long.MIN_VALUE, List.of());

        static final Elements ZERO = new Elements(0, List.of());
        static final Elements ONE = new Elements(1, List.of());

        private static final String ARGUMENT = "arg";

        /**
         * Parses the elements of a rule.
         *
         * @throws IllegalArgumentException when the text is neither a number nor a path
         */
        static Elements parse(String text) {
            if (Names.isNumber(text, 18)) {
                return new Elements(Long.parseLong(text), List.of());
            }
            if (!Names.isPath(text)) {
                throw new IllegalArgumentException("'" + text
                        + "' is not a number of elements: write a number, or a path that begins with a "
                        + "parameter or this");
            }
            return new Elements(0, List.of(text.split("\\.", -1)));
        }

        boolean isConstant() {
            return path.isEmpty();
        }

        /** Returns the index, from 0, of the call's argument at which the path begins; -1 if it begins elsewhere. */
        int argument() {
            String name = path.size() > 1 && path.get(0).equals("call") ? path.get(1) : "";
            String number = name.startsWith(ARGUMENT) ? name.substring(ARGUMENT.length()) : "";
            return Names.isNumber(number, 3) ? Integer.parseInt(number) : -1;
        }

        /** Returns whether the path begins at the object whose method the call calls. */
        boolean isOfReceiver() {
            return path.size() > 1 && path.get(0).equals("call") && path.get(1).equals("this");
        }

        /** Returns the number of names that denote the beginning of the path. */
        int rootNames() {
            return argument() >= 0 || isOfReceiver() ? 2 : 1;
        }

        @Override
        public String toString() {
            return isConstant() ? Long.toString(constant) : String.join(".", path);
        }
    }

    /**
     * The numbers that each execution reports.
     *
     * @param elements the elements or tokens that it processes; for a layer its number, negative if layers are counted;
     *     for a prompt the number of steps that process it; for a request the tokens of its prompt, or unknown if its
     *     steps report them; for a step of a request the tokens of its prompt in that step
     * @param kvLength the number of positions that the key-value cache holds at the step; 0 for the other kinds
     * @param output the number of tokens that a step, or the last step of a prompt, outputs; the number that a step
     *     gives a request, or unknown; 0 for the other kinds
     * @param isPrompt whether a step processes a prompt, or a part of one, however few tokens these are
     * @param request the path to the object that identifies the request; {@link Elements#ZERO} for none
     * @param id the path to the id that the engine has for the request; {@link Elements#ZERO} for none
     * @param requestModel the path to the model that the request is for; {@link Elements#ZERO} for none
     * @param ending the outcome of a request
     * @param product the work of a brick; empty if the rule states none
     * @param model the numbers of a model, in the order of {@link ModelNumber}; empty for the other kinds
     */
    record Amounts(
            Elements elements,
            Elements kvLength,
            Elements output,
            boolean isPrompt,
            Elements request,
            Elements id,
            Elements requestModel,
            Ending ending,
            Optional<Product> product,
            List<Weight> model) {

        /** Returns the amounts of a brick. */
        static Amounts of(Elements elements) {
            return new Amounts(
                    elements,
                    Elements.ZERO,
                    Elements.ZERO,
                    false,
                    Elements.ZERO,
                    Elements.ZERO,
                    Elements.ZERO,
                    Ending.COMPLETED,
                    Optional.empty(),
                    List.of());
        }

        private Amounts with(Elements position, Optional<Product> other) {
            return new Amounts(elements, position, output, isPrompt, request, id, requestModel, ending, other, model);
        }
    }

    /**
     * The work of a brick that multiplies a matrix of weights by vectors.
     *
     * @param number its number among the products of the file, from 0
     * @param shape rows and columns of the matrix, and the number of vectors; empty if the work is unknown
     * @param weight the type of the weights
     * @param activation the bytes of a block of numbers of the vectors
     * @param times the number of such products in a sample
     */
    record Product(int number, List<Elements> shape, Weight weight, long activation, long times) {

        /** Returns a product of unknown work; its samples make the work of the whole brick unknown. */
        static Product unknown(int number) {
            return new Product(number, List.of(), Weight.number(Elements.ZERO), 0, 1);
        }
    }

    /**
     * A type of numbers, or a plain number.
     *
     * @param path the path to a value that names the type; a constant is the bytes of a block of weights
     * @param types the bytes of a block of weights of each value, by the value's text, beside those of
     *     {@link WeightTypes}
     * @param isType false for a plain number
     */
    record Weight(Elements path, Map<String, Long> types, boolean isType) {

        /** Returns a plain number. */
        static Weight number(Elements path) {
            return new Weight(path, Map.of(), false);
        }
    }

    /** The numbers of a model. Those without a default are required. */
    enum ModelNumber {
        LAYERS("layers"),
        DIM("dim"),
        HEADS("heads"),
        KV_HEADS("kvHeads"),
        FFN_DIM("ffnDim"),
        VOCAB("vocab"),
        WEIGHT("weight"),
        /** 0 stands for the width divided by the number of heads. */
        HEAD_DIM("headDim", 0),
        CACHE("cache", WeightTypes.F32),
        ACTIVATION("activation", WeightTypes.F32),
        EXPERTS("experts", 0),
        EXPERTS_PER_TOKEN("expertsPerToken", 0),
        /** A negative number of tokens, or of positions below, stands for that of the step. */
        TOKENS("tokens", -1),
        KV("kv", -1);

        /** The key in a rule. */
        final String key;

        /** The default; {@link WovenWork#UNREAD} if the number is required. */
        final long unlessGiven;

        ModelNumber(String key) {
            this(key, WovenWork.UNREAD);
        }

        ModelNumber(String key, long unlessGiven) {
            this.key = key;
            this.unlessGiven = unlessGiven;
        }

        /** Returns whether a rule has to state the number. */
        boolean isRequired() {
            return unlessGiven == WovenWork.UNREAD;
        }

        /** Returns the index among the numbers of a model, from 0. */
        @SuppressWarnings("EnumOrdinal") // the only place that reads it
        int index() {
            return ordinal();
        }

        /** Returns whether it is a type of numbers. */
        boolean isType() {
            return this == WEIGHT || this == CACHE || this == ACTIVATION;
        }
    }

    /**
     * The outcome of requests that end with a span.
     *
     * @param constant the outcome if there is no path
     * @param path the path to the value that decides; a constant if there is none
     * @param outcomes the outcome of each value, by the value's text
     */
    record Ending(Outcome constant, Elements path, Map<String, Outcome> outcomes) {

        static final Ending COMPLETED = new Ending(Outcome.COMPLETED, Elements.ZERO, Map.of());

        /** Returns whether the outcome begins with the value that the method or the call returns. */
        boolean isOfResult() {
            return !path.isConstant() && path.path().get(0).equals(RESULT);
        }
    }

    /** The first name of a path to the value that a method or a call returns. */
    static final String RESULT = "result";

    Elements elements() {
        return amounts.elements;
    }

    Elements kvLength() {
        return amounts.kvLength;
    }

    Elements output() {
        return amounts.output;
    }

    boolean isPrompt() {
        return amounts.isPrompt;
    }

    Elements request() {
        return amounts.request;
    }

    /** Returns the path to the id of the request; a constant for none. */
    Elements id() {
        return amounts.id;
    }

    /** Returns the path to the model that the request is for; a constant for none. */
    Elements requestModel() {
        return amounts.requestModel;
    }

    /** Returns the place from which a request counts whose span begins, in words. */
    String arrival() {
        String name = target.className();
        String method =
                name.substring(Math.max(name.lastIndexOf('.'), name.lastIndexOf('$')) + 1) + '.' + target.method();
        String place = from.equals(Anchor.ENTRY) ? "the call of " + method : "a call " + from + " in " + method;
        return place.replace(';', ',');
    }

    Ending ending() {
        return amounts.ending;
    }

    Optional<Product> product() {
        return amounts.product;
    }

    List<Weight> model() {
        return amounts.model;
    }

    /** Returns the same rule with the position 0 if it states none. */
    WeaveRule withKnownPosition() {
        return amounts.kvLength.equals(Elements.UNKNOWN)
                ? new WeaveRule(
                        line, kind, target, from, to, brick, category, amounts.with(Elements.ZERO, amounts.product))
                : this;
    }

    /** Returns the same rule with other work. */
    WeaveRule withProduct(Product other) {
        return new WeaveRule(
                line, kind, target, from, to, brick, category, amounts.with(amounts.kvLength, Optional.of(other)));
    }

    /** Returns the same rule with the amounts of a brick that reports these elements. */
    WeaveRule withElements(Elements other) {
        return new WeaveRule(line, kind, target, from, to, brick, category, Amounts.of(other));
    }
}
