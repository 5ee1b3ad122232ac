// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import YKFIDO
import YKRelyingParty
import YKTransport
import YKWire

/// The accounts and their credentials, in SQLite.
struct Accounts: Sendable {
    private let database: any DatabaseWriter

    /// Opens the database at a path and creates its tables where they are missing.
    init(path: String) throws {
        database = try DatabasePool(path: path)
        try database.write { database in
            try database.execute(
                sql: """
                    CREATE TABLE IF NOT EXISTS account (
                        name TEXT PRIMARY KEY, handle BLOB NOT NULL UNIQUE, displayName TEXT NOT NULL);
                    CREATE TABLE IF NOT EXISTS credential (
                        id BLOB PRIMARY KEY, handle BLOB NOT NULL REFERENCES account(handle), record TEXT NOT NULL);
                    CREATE INDEX IF NOT EXISTS credentialsOfAccount ON credential(handle);
                    """)
        }
    }

    /// The account of this name; a new one gets a random handle.
    func account(_ name: String, displayName: String) async throws -> FIDOUser {
        let handle = Data(SystemRandom().draw(32, secret: false))
        return try await database.write { database in
            try database.execute(
                sql: "INSERT OR IGNORE INTO account VALUES (?, ?, ?)", arguments: [name, handle, displayName])
            return try Self.find(name, database)
        } ?? FIDOUser(id: Array(handle), name: name, displayName: displayName)
    }

    /// The account of this name, if there is one.
    func find(_ name: String) async throws -> FIDOUser? {
        try await database.read { try Self.find(name, $0) }
    }

    /// The credentials of an account.
    func credentials(of handle: [UInt8]) async throws -> [CredentialRecord] {
        try await database.read { database in
            try String.fetchAll(
                database, sql: "SELECT record FROM credential WHERE handle = ?", arguments: [Data(handle)])
        }.map { try CredentialRecord(json: JSONValue(parsing: $0)) }
    }

    /// The credential of this identifier, of whichever account.
    func credential(_ id: [UInt8]) async throws -> CredentialRecord? {
        try await database.read { database in
            try String.fetchOne(database, sql: "SELECT record FROM credential WHERE id = ?", arguments: [Data(id)])
        }.map { try CredentialRecord(json: JSONValue(parsing: $0)) }
    }

    /// Stores a new credential; one that already exists is an error.
    func add(_ record: CredentialRecord) async throws {
        let text = record.json.text
        try await database.write { database in
            try database.execute(
                sql: "INSERT INTO credential VALUES (?, ?, ?)", arguments: [Data(record.id), Data(record.user), text])
        }
    }

    /// Stores the signature counter and the backup state after a sign-in.
    func update(_ record: CredentialRecord) async throws {
        let text = record.json.text
        try await database.write { database in
            try database.execute(
                sql: "UPDATE credential SET record = ? WHERE id = ?", arguments: [text, Data(record.id)])
        }
    }

    private static func find(_ name: String, _ database: Database) throws -> FIDOUser? {
        try Row.fetchOne(database, sql: "SELECT * FROM account WHERE name = ?", arguments: [name]).map { row in
            let handle: Data = row["handle"]
            return FIDOUser(id: Array(handle), name: row["name"], displayName: row["displayName"])
        }
    }
}
