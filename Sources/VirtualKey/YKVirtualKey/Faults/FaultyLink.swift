// SPDX-License-Identifier: Apache-2.0

public import YKTransport

/// A link on which things go wrong as planned.
public final class FaultyLink: CardLink {
    private let link: any CardLink
    private var plan: FaultPlan
    private var isRemoved = false
    private var isLost = false

    /// Takes a link over.
    public init(_ link: sending any CardLink, plan: FaultPlan) {
        self.link = link
        self.plan = plan
    }

    /// What is known of the card and its reader.
    public var identity: CardIdentity { link.identity }

    /// Sends a command, if the plan lets it, and gives what the plan leaves of the response.
    public func exchange(_ command: [UInt8], deadline: Deadline) throws(LinkError) -> [UInt8] {
        if isRemoved { throw .removed }
        let link = link
        switch try plan.play(command, { bytes throws(LinkError) in try link.exchange(bytes, deadline: deadline) }) {
        case .reply(let bytes, let delay):
            try Pause.wait(delay, deadline, "waiting for a reply")
            return bytes
        case .silence:
            try Pause.wait(nil, deadline, "waiting for a reply")
            throw .timedOut("waiting for a reply")
        case .removed:
            isRemoved = true
            throw .removed
        case .reset:
            try link.reset(.cold, deadline: deadline)
            isLost = true
            throw .reset
        }
    }

    /// Keeps others off the card; a key that was taken away throws `removed`.
    public func begin(deadline: Deadline) throws(LinkError) -> Bool {
        if isRemoved { throw .removed }
        let wasReset = isLost
        isLost = false
        return try link.begin(deadline: deadline) || wasReset
    }

    /// Lets others use the card.
    public func end() { link.end() }

    /// Resets the card; a key that was taken away throws `removed`.
    public func reset(_ kind: CardReset, deadline: Deadline) throws(LinkError) {
        if isRemoved { throw .removed }
        try link.reset(kind, deadline: deadline)
    }

    /// Ends the use of the card.
    public func close() { link.close() }
}
