// SPDX-License-Identifier: Apache-2.0

import YKProtocols
package import YKWire

/// What becomes of a command APDU of the far end. What reaches the key is in it, and has only what was understood.
package enum CardVerdict: Hashable, Sendable {
    /// An application is selected.
    case select(RemoteApplication)
    /// The command reads what takes no PIN: it is passed on.
    case read(APDU)
    /// The command is passed on once the user agrees.
    case use(APDU, CardUse)
    /// A PIN is verified once the user agrees and has entered it. What the far end sent as the PIN is ignored.
    case verify(RemotePIN)
    /// It is answered like something that the card does not have, as programs expect that look around.
    case absent(StatusWord)
    /// It is refused, which the user sees: the answer, and the command's name.
    case refuse(StatusWord, String)
}

/// Decides about whole command APDUs, without any state but the selected application. Every rule names what is allowed; all
/// else is not.
package struct CardFilter: Hashable, Sendable {
    /// The applications that may be selected.
    package let applications: [RemoteApplication]

    /// Creates a filter for the applications that the user named.
    package init(_ applications: [RemoteApplication]) { self.applications = applications }

    /// Decides about a command.
    package func verdict(on command: APDU, selected: RemoteApplication?) -> CardVerdict {
        // No secure messaging, no logical channels, no class of a vendor.
        guard command.cla == 0 else { return .absent(.unknownClass) }
        // OATH's CALCULATE ALL has the instruction of SELECT.
        let isOATH = selected == .oath && command.p1 == 0
        if command.ins == ISO7816.select, !isOATH { return select(command) }
        switch selected {
        case nil: return .absent(.conditionsNotSatisfied)
        case .piv?: return Self.piv(command)
        case .oath?: return Self.oath(command)
        case .openpgp?: return Self.openPGP(command)
        }
    }

    /// SELECT by name; a name may go on with a version and a serial number.
    private func select(_ command: APDU) -> CardVerdict {
        let isByName = command.p1 == 0x04 && [0x00, 0x0C].contains(command.p2)
        guard isByName, (5...16).contains(command.data.count) else { return .absent(.notFound) }
        let application = applications.first { command.data.starts(with: $0.aid.rawValue) }
        return application.map { .select($0) } ?? .absent(.notFound)
    }

    /// What is answered to a command that is not allowed: known ones lack a right, others do not exist.
    static func refusal(of command: APDU, in application: RemoteApplication) -> CardVerdict {
        guard let name = application.vocabulary.instructions[command.ins] else { return .absent(.unknownInstruction) }
        return .refuse(.securityStatusNotSatisfied, name)
    }

    /// VERIFY with a reference of the user's PIN: without data it asks for the state, with P1 FF it takes it back.
    static func verify(
        _ command: APDU, _ application: RemoteApplication, references: Set<UInt8>, lengths: ClosedRange<Int>
    ) -> CardVerdict {
        guard references.contains(command.p2) else {
            return command.data.isEmpty ? .absent(.referenceNotFound) : refusal(of: command, in: application)
        }
        let question = APDU(ins: command.ins, p1: command.p1, p2: command.p2, le: .none)
        switch (command.p1, command.data.count) {
        case (0x00, 0), (0xFF, 0): return .read(question)
        case (0x00, lengths): return .verify(RemotePIN(application: application, reference: command.p2))
        case (0x00, _): return .absent(.wrongLength)
        default: return .absent(.incorrectP1P2)
        }
    }
}
