// SPDX-License-Identifier: Apache-2.0

public import YKHardware

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
