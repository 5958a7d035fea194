"""The mistakes that the simulator must find, and by which rule; scripts/mutants.sh makes and runs
them. An edit is (source, text, replacement): the text must be in the source once. Where the source
has changed, say the mistake anew."""
from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    name: str
    rule: str  # of sim/invariants.h
    edits: tuple
    first_seed: int = 1  # where seeds that show it come late


MUTANTS = (
    # A full rung is not left.
    Mutant("skips_switch", "rung", ((
        "runtime/session.cc",
        "row.program->shape().rung != wanted(row)",
        "(row.program->shape().rung != wanted(row) && row.live() < row.program->shape().rung)"),)),

    # The next rung is installed a token early.
    Mutant("switches_early", "rung", (
        ("plan/schedule.cc",
         "std::upper_bound(ladder.begin(), ladder.end(), live)",
         "std::upper_bound(ladder.begin(), ladder.end(), live + 1)"),
        ("plan/schedule.cc",
         "(rung <= place ||",
         "(rung <= std::min(place + 1, query.ladder.back() - 1) ||"))),

    # A wait at a boundary is in no account.
    Mutant("forgets_wait", "accounts", ((
        "runtime/recorder.cc",
        "(wait.at_boundary ? result_.time_s.boundary_wait : result_.time_s.foreground_compile) += "
        "seconds;",
        "if (!wait.at_boundary) result_.time_s.foreground_compile += seconds;"),)),

    # Programs that were left stay in memory.
    Mutant("keeps_programs", "residency", ((
        "runtime/request_programs.cc",
        "dependencies_.store.release(shape);",
        "(void)shape;"),)),

    # Programs are forgotten and never freed.
    Mutant("frees_nothing", "residency", ((
        "compile/program_store.cc",
        "if (shared_->dropped.empty() ||",
        "if (what > Free::kNothing || shared_->dropped.empty() ||"),)),

    # The last row of a chunk is not stored.
    Mutant("loses_row", "positions", ((
        "runtime/session.cc",
        "row.append(*prefill_, 0, valid);",
        "row.append(*prefill_, 0, std::max<std::int64_t>(valid - 1, 1));"),)),

    # The first token of the prompt instead of the one that was chosen.
    Mutant("repeats_token", "tokens", ((
        "runtime/session.cc",
        "row.runs() ? row.next_token : 0;",
        "row.runs() ? row.prompt().front() : 0;"),)),

    # Eager asks for the next program without waiting for the one before.
    Mutant("compiles_twice", "one-compile", (
        ("plan/schedule.cc",
         "const bool busy = compiling != state.status.end();",
         "const bool busy = compiling != state.status.end() && "
         "state.schedule != Schedule::kEager;"),
        ("compile/program_store.cc",
         "AHEAD_CHECK(!compiling(), \"one background compile at a time\");",
         ""))),

    # Whoever says stop while a prompt is read is not heard.
    Mutant("hears_no_stop", "stop", (
        ("runtime/session.cc",
         "void prefill_chunk(Sequence& row) {\n"
         "    if (job_.stop.stop_requested()) throw Interrupted();",
         "void prefill_chunk(Sequence& row) {"),
        ("runtime/session.cc",
         "if (!prefill_->run(job_.stop)) throw Interrupted();",
         "(void)prefill_->run(std::stop_token());"))),

    # An error that does not say what happened.
    Mutant("hides_cause", "error", ((
        "runtime/session.cc",
        "result_.error = text;",
        "result_.error = \"generation failed\" + text.substr(text.size());"),)),

    # A wait goes on after the stop.
    Mutant("waits_on", "stop", ((
        "compile/program_store.cc",
        "executor_.wait(std::move(stop), done);",
        "executor_.wait({}, done);"),)),

    # What a part failed with is lost.
    Mutant("hides_part_error", "error", ((
        "compile/part_queue.cc",
        "if (!failed_.empty()) std::rethrow_exception(failed_.begin()->second);",
        "if (!failed_.empty()) throw std::runtime_error(\"a part failed\");"),)),

    # A faster form is wanted though it failed.
    Mutant("insists", "error", ((
        "runtime/prospects.cc",
        "need.tier = tier;\n"
        "    const plan::Status status = store_.state(shape_of(need));\n"
        "    if (status == plan::Status::kFailed) continue;",
        "need.tier = tier;\n"
        "    const plan::Status status = store_.state(shape_of(need));\n"
        "    if (status == plan::Status::kFailed) return tier;"),),
        # A faster form seldom fails on a rung that comes after it was taken up.
        first_seed=12000),

    # A move that took nobody's time is not told of.
    Mutant("forgets_move", "accounts", ((
        "runtime/session.cc",
        "recorder_.boundary(record, begin);",
        "if (record.wait_s > 0 || record.row > 0) recorder_.boundary(record, begin);"),)),

    # A window reaches one token too far back.
    Mutant("widens_window", "error", ((
        "compile/program.cc",
        "live + token - window + 1",
        "live + token - window"),)),

    # A ring that comes round puts rows one place from where they are looked for.
    Mutant("misplaces_row", "tokens", ((
        "kv/layout.cc",
        "row % layer.ring_rows",
        "(row < layer.ring_rows ? row : (row + 1) % layer.ring_rows)"),)),
)
