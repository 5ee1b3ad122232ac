// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKFIDO
import YKHardware
import YKInteraction
import YKKeys
import YKRelyingParty
import YKWire

/// What was found, and what was done about it.
struct Findings: Report {
    let checks: [Check]
    let report: String?
    let fixed: [String]?

    var problems: [Check] { checks.filter { $0.verdict == .bad } }

    static let members: [Member<Findings>] = [
        Member("checks") { $0.checks },
        Member("problem", "the name of the first check that found one") { $0.problems.first?.name },
        Member("report") { $0.report },
        Member("fixed", "what `--fix` did, null without it") { $0.fixed },
    ]
}

/// Diagnoses step by step why a key cannot be reached.
struct Doctor: Verb {
    static let uses: GlobalUse = [.device, .virtual, .replay, .record, .channel]
    /// An unusable file is one of the problems that it reports.
    static let needsConfiguration = false
    static let about = About(
        "Find out why a key cannot be reached, and how to fix it.",
        discussion: """
            Checks everything from the USB port, permissions and the smart card service to the key's firmware. Nothing \
            is changed unless --fix is given. The exit code is that of the first problem. --report writes the same to \
            a file to attach to a bug report, without serial numbers and names of users and their folders.
            """,
        examples: [
            Example("ykit doctor"),
            Example("ykit doctor --report report.txt", "Write a report to attach to a bug report."),
        ])

    @Option("--report <file>", help: "Write the results to a new file, with names and numbers masked.")
    var report: String?

    @OptionGroup var metadata: MetadataOptions

    @Flag("--fix", help: "Install the udev rules when run by root, else print the commands that do.") var fix = false

    func check() throws { try metadata.check() }

    func run(in run: Run) async throws -> Outcome<Findings> {
        let list = try metadata.list(in: run)
        let fixed = fix ? try UDevRule.install(run.stage.programs) : []
        let diagnosis = await run.keys.diagnosis()
        let isReal = !run.isVirtual
        let bridges =
            Check.bridges(isReal ? BridgeDevice.all() : [])
            + Check.guard(isReal ? GuardParts.find(home: run.variable("HOME")) : GuardParts())
        let model = if let list { await Self.model(list, in: run) } else { [Check]() }
        let suffixes = Self.suffixes(.newest, at: run.now)
        let checks = Self.configuration(run) + diagnosis.checks + bridges + model + suffixes
        let found = Findings(checks: checks, report: report, fixed: fix ? fixed : nil)
        let problems = found.problems
        var outcome = Outcome(found, fixed + (Check.lines(checks) + [Self.summary(problems.count)]).asProse)
        outcome.answer.failure = problems.first.map {
            Explanation("doctor-\($0.name)", $0.exit, $0.seen, hint: $0.remedy)
        }
        if let report {
            let configuration = Self.configuration(run, showsValues: false)
            let shown = configuration + diagnosis.checks + model + suffixes
            let facts = diagnosis.facts
            let text = DoctorReport(facts: facts, checks: shown, system: .find()).lines(
                ReportMask(facts, user: User.name, home: run.variable("HOME")))
            let bytes = Array((text.joined(separator: "\n").shown(styled: false) + "\n").utf8)
            try FileOutput(file: report, force: nil).put(bytes, &outcome.answer)
        }
        return outcome
    }

    /// What the list of models says about the selected key.
    private static func model(_ list: MetadataBLOB, in run: Run) async -> [Check] {
        do {
            let model = try await list.model(in: run)
            let seen = model.rows.map { $0[1] }.listed(by: "; ")
            guard !model.warnings.isEmpty else { return [Check("model", .good, seen)] }
            return [
                Check(
                    "model", .bad, seen, remedy: "replace the key; first register another one with each account",
                    exit: .policy)
            ]
        } catch {
            return [Check("model", .note, "not looked up in the metadata list: \(Explanation(error).message)")]
        }
    }

    /// The configuration file and variables in effect; empty without any.
    private static func configuration(_ run: Run, showsValues: Bool = true) -> [Check] {
        let file = run.configuration
        var checks: [Check] = []
        if let path = file.path {
            let seen = "\(showsValues ? path.printable : "a file") sets \(file.summary(showsValues: showsValues))"
            checks.append(Check("configuration", .good, seen))
        } else {
            do { _ = try ConfigurationFile.read(run.stage.variables) } catch {
                checks.append(Check("configuration", error))
            }
        }
        let variables = Declarations.of(GlobalOptions.self).compactMap { $0.variable?.name }.filter {
            run.variable($0) != nil
        }
        if !variables.isEmpty {
            checks.append(Check("configuration", .good, "variables: " + variables.listed()))
        }
        return checks
    }

    /// An outdated list, which decides whether a site may use a parent domain.
    private static func suffixes(_ list: PublicSuffixList, at now: Int64) -> [Check] {
        list.outdated(at: now).map { Explanation($0) }.map {
            [Check("public-suffix", .note, $0.message, remedy: $0.hint)]
        } ?? []
    }

    private static func summary(_ problems: Int) -> String {
        switch problems {
        case 0: "no problems found"
        case 1: "one problem"
        default: "\(problems) problems; fix the first one first, it may cause the others"
        }
    }
}
