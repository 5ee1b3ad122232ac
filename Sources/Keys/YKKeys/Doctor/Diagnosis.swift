// SPDX-License-Identifier: Apache-2.0

public import YKHardware
import YKManagement

/// Why keys can or cannot be reached on this machine, step by step in order of dependency: the first problem may be the
/// reason for those after it.
///
/// ```swift
/// if let problem = await KeyRing().diagnosis().problem { print(problem.step, problem.cause) }
/// ```
public struct Diagnosis: Sendable {
    /// The kind of environment.
    public let machine: MachineKind
    /// The program's name in that environment, if it has one.
    public let application: String?
    /// What was found, in order.
    public let findings: [Finding]
    /// The observations that the findings follow from.
    package let facts: MachineFacts

    /// The first problem.
    public var problem: Finding? { findings.first { $0.severity == .problem } }

    package init(_ facts: MachineFacts) {
        self.facts = facts
        machine = facts.machine
        application = facts.application
        findings = facts.findings
    }
}

extension KeyRing {
    /// Examines this machine and the keys that it reaches, or a recording or virtual key. Keys are queried for their
    /// identity and applications; nothing is changed, and no touch is required.
    public func diagnosis() async -> Diagnosis {
        let keys = self
        let facts = try? await offPool { () throws(KeyError) in Examination(keys: keys).facts() }
        return Diagnosis(facts ?? MachineFacts())
    }
}

/// Removes identifying data from a report: serial numbers, user names and home folders.
package struct ReportMask: Sendable {
    private let words: [(String, String)]

    /// Collects what identifies the user of a machine.
    ///
    /// - Parameters:
    ///   - user: The name of the user.
    ///   - home: The path of the user's folder.
    package init(_ facts: MachineFacts, user: String, home: String?) {
        var words: [(String, String)] = []
        func hide(_ word: String?, _ mask: String, from length: Int) {
            if let word, word.utf8.count >= length, !words.contains(where: { $0.0 == word }) {
                words.append((word, mask))
            }
        }
        for case .success(let identity) in facts.keys.map(\.identity) {
            hide(identity.serial, "‹serial›", from: 4)
        }
        for serial in facts.devices.map(\.serial) + (facts.usb ?? []).map(\.serial) {
            hide(serial, "‹serial›", from: 4)
        }
        hide(home, "‹home›", from: 2)
        let listed = facts.nodes.values.flatMap { $0.listed + [$0.owner] }
        for name in [user, facts.login.activeUser ?? ""] + listed where name != "root" {
            hide(name, "‹user›", from: 2)
        }
        // A word may be part of another, so longer ones are replaced first.
        self.words = words.sorted { ($1.0.utf8.count, $0.0) < ($0.0.utf8.count, $1.0) }
    }

    /// Returns the line without identifying data.
    package func mask(_ line: String) -> String {
        words.reduce(line) { text, word in
            text.split(separator: word.0, omittingEmptySubsequences: false).joined(separator: word.1)
        }
    }
}
