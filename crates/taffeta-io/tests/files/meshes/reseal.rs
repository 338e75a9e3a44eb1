//! Checksums put right again in a damaged recording, so that what its blocks hold reaches the reader.

use xxhash_rust::xxh3::xxh3_64_with_seed as hash;

/// Numbers and seals the blocks anew, as far as their lengths lead.
pub fn reseal(bytes: &mut [u8]) {
    let (mut start, mut identity) = (16, 0);
    for sequence in 0_u32.. {
        let Some(head) = bytes.get_mut(start..start + 24) else { return };
        head[4..8].copy_from_slice(&sequence.to_le_bytes());
        let check = hash(&head[..16], identity);
        head[16..].copy_from_slice(&check.to_le_bytes());
        let length = head[8..].first_chunk().map_or(0, |raw| u64::from_le_bytes(*raw));
        let end = usize::try_from(length).ok().and_then(|length| (start + 24).checked_add(length));
        let Some(block) = end.and_then(|end| bytes.get_mut(start..end.checked_add(8)?)) else { return };
        let (covered, tail) = block.split_at_mut(block.len() - 8);
        let checksum = hash(covered, identity);
        tail.copy_from_slice(&checksum.to_le_bytes());
        // The header's checksum marks all blocks behind it as its own.
        if sequence == 0 {
            identity = checksum;
        }
        start += block.len();
    }
}
