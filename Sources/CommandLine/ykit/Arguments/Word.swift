// SPDX-License-Identifier: Apache-2.0

/// What `ParsableCommand` says of a word on the line without ArgumentParser. What conforms to ArgumentParser's protocols
/// does so only once the runtime has put it together, which for all words takes longer than to read the line.
protocol Word: SendableMetatype {
    static var configuration: CommandConfiguration { get }

    /// The verb before its line is read; `nil` for what is no verb.
    static var unread: (any Verb)? { get }

    /// The word for ArgumentParser.
    static var command: any ParsableCommand.Type { get }
}
