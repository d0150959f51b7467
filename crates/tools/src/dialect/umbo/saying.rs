//! Serializing only what says something: no field that is null or an empty list, however deep.
//!
//! Done while the value is serialized. To make all of it first and take fields away afterwards costs as much as the
//! rest of an answer.

use std::fmt;

use serde::ser::{
    Error as _, Impossible, Serialize, SerializeMap, SerializeSeq, SerializeStruct,
    SerializeStructVariant, SerializeTuple, SerializeTupleStruct, SerializeTupleVariant,
    Serializer,
};
use serde_json::Value;

/// A value of which only what says something is serialized. What it is in has to ask whether it does.
pub(super) struct Saying<T>(pub(super) T);

impl<T: Serialize> Serialize for Saying<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(Brief(serializer))
    }
}

/// Whether a value is null or an empty list.
fn says_nothing<T: Serialize + ?Sized>(value: &T) -> bool {
    value.serialize(Nothing).is_ok()
}

/// A serializer that leaves out what says nothing.
struct Brief<S>(S);

/// What is inside of a value. A key waits until it is known whether its value says something.
struct Inside<C>(C, Option<String>);

impl<C> Inside<C> {
    fn of<E>(inside: Result<C, E>) -> Result<Self, E> {
        inside.map(|inside| Self(inside, None))
    }
}

/// Methods that pass a value on as it is.
macro_rules! as_it_is {
    ($($method:ident: $kind:ty),*) => {$(
        fn $method(self, value: $kind) -> Result<Self::Ok, Self::Error> {
            self.0.$method(value)
        }
    )*};
}

impl<S: Serializer> Serializer for Brief<S> {
    type Ok = S::Ok;
    type Error = S::Error;
    type SerializeSeq = Inside<S::SerializeSeq>;
    type SerializeTuple = Inside<S::SerializeTuple>;
    type SerializeTupleStruct = Inside<S::SerializeTupleStruct>;
    type SerializeTupleVariant = Inside<S::SerializeTupleVariant>;
    type SerializeMap = Inside<S::SerializeMap>;
    type SerializeStruct = Inside<S::SerializeStruct>;
    type SerializeStructVariant = Inside<S::SerializeStructVariant>;

    as_it_is!(
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32,
        serialize_i64: i64, serialize_i128: i128, serialize_u8: u8, serialize_u16: u16,
        serialize_u32: u32, serialize_u64: u64, serialize_u128: u128, serialize_f32: f32,
        serialize_f64: f64, serialize_char: char, serialize_str: &str, serialize_bytes: &[u8],
        serialize_unit_struct: &'static str
    );

    fn serialize_none(self) -> Result<S::Ok, S::Error> {
        self.0.serialize_none()
    }

    fn serialize_unit(self) -> Result<S::Ok, S::Error> {
        self.0.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        self.0.serialize_some(&Saying(value))
    }

    fn serialize_unit_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
    ) -> Result<S::Ok, S::Error> {
        self.0.serialize_unit_variant(name, index, variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        self.0.serialize_newtype_struct(name, &Saying(value))
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        if says_nothing(value) {
            return self.0.serialize_map(Some(0))?.end();
        }
        self.0.serialize_newtype_variant(name, index, variant, &Saying(value))
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<Self::SerializeSeq, S::Error> {
        Inside::of(self.0.serialize_seq(length))
    }

    fn serialize_tuple(self, length: usize) -> Result<Self::SerializeTuple, S::Error> {
        Inside::of(self.0.serialize_tuple(length))
    }

    fn serialize_tuple_struct(
        self,
        name: &'static str,
        length: usize,
    ) -> Result<Self::SerializeTupleStruct, S::Error> {
        Inside::of(self.0.serialize_tuple_struct(name, length))
    }

    fn serialize_tuple_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Self::SerializeTupleVariant, S::Error> {
        Inside::of(self.0.serialize_tuple_variant(name, index, variant, length))
    }

    fn serialize_map(self, length: Option<usize>) -> Result<Self::SerializeMap, S::Error> {
        Inside::of(self.0.serialize_map(length))
    }

    fn serialize_struct(
        self,
        name: &'static str,
        length: usize,
    ) -> Result<Self::SerializeStruct, S::Error> {
        Inside::of(self.0.serialize_struct(name, length))
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Self::SerializeStructVariant, S::Error> {
        Inside::of(self.0.serialize_struct_variant(name, index, variant, length))
    }

    fn collect_str<T: fmt::Display + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        self.0.collect_str(value)
    }

    fn is_human_readable(&self) -> bool {
        self.0.is_human_readable()
    }
}

/// Lists: each item stays, with what it says.
macro_rules! lists {
    ($($list:ident: $method:ident),*) => {$(
        impl<C: $list> $list for Inside<C> {
            type Ok = C::Ok;
            type Error = C::Error;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), C::Error> {
                self.0.$method(&Saying(value))
            }

            fn end(self) -> Result<C::Ok, C::Error> {
                self.0.end()
            }
        }
    )*};
}

lists!(
    SerializeSeq: serialize_element,
    SerializeTuple: serialize_element,
    SerializeTupleStruct: serialize_field,
    SerializeTupleVariant: serialize_field
);

/// Fields: those that say something.
macro_rules! fields {
    ($($fields:ident),*) => {$(
        impl<C: $fields> $fields for Inside<C> {
            type Ok = C::Ok;
            type Error = C::Error;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                key: &'static str,
                value: &T,
            ) -> Result<(), C::Error> {
                if says_nothing(value) {
                    return self.0.skip_field(key);
                }
                self.0.serialize_field(key, &Saying(value))
            }

            fn skip_field(&mut self, key: &'static str) -> Result<(), C::Error> {
                self.0.skip_field(key)
            }

            fn end(self) -> Result<C::Ok, C::Error> {
                self.0.end()
            }
        }
    )*};
}

fields!(SerializeStruct, SerializeStructVariant);

impl<C: SerializeMap> SerializeMap for Inside<C> {
    type Ok = C::Ok;
    type Error = C::Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), C::Error> {
        let key = match serde_json::to_value(key).map_err(C::Error::custom)? {
            Value::String(key) => key,
            other => other.to_string(),
        };
        self.1 = Some(key);
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), C::Error> {
        let key = self.1.take().ok_or_else(|| C::Error::custom("a value has no key"))?;
        self.serialize_entry(&key, value)
    }

    fn serialize_entry<K: Serialize + ?Sized, V: Serialize + ?Sized>(
        &mut self,
        key: &K,
        value: &V,
    ) -> Result<(), C::Error> {
        if says_nothing(value) { Ok(()) } else { self.0.serialize_entry(key, &Saying(value)) }
    }

    fn end(self) -> Result<C::Ok, C::Error> {
        self.0.end()
    }
}

/// Serializes what says nothing, and fails with everything else.
struct Nothing;

/// A list that says nothing as long as nothing is added.
struct EmptyList;

type Said = Result<(), fmt::Error>;

/// Methods that take what says something.
macro_rules! something {
    ($($method:ident: $kind:ty),*) => {$(
        fn $method(self, _: $kind) -> Said {
            Err(fmt::Error)
        }
    )*};
}

impl Serializer for Nothing {
    type Ok = ();
    type Error = fmt::Error;
    type SerializeSeq = EmptyList;
    type SerializeTuple = EmptyList;
    type SerializeTupleStruct = EmptyList;
    type SerializeTupleVariant = Impossible<(), fmt::Error>;
    type SerializeMap = Impossible<(), fmt::Error>;
    type SerializeStruct = Impossible<(), fmt::Error>;
    type SerializeStructVariant = Impossible<(), fmt::Error>;

    something!(
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32,
        serialize_i64: i64, serialize_i128: i128, serialize_u8: u8, serialize_u16: u16,
        serialize_u32: u32, serialize_u64: u64, serialize_u128: u128, serialize_char: char,
        serialize_str: &str
    );

    // JSON has no word for these numbers but null.
    fn serialize_f32(self, value: f32) -> Said {
        if value.is_finite() { Err(fmt::Error) } else { Ok(()) }
    }

    fn serialize_f64(self, value: f64) -> Said {
        if value.is_finite() { Err(fmt::Error) } else { Ok(()) }
    }

    fn serialize_bytes(self, value: &[u8]) -> Said {
        if value.is_empty() { Ok(()) } else { Err(fmt::Error) }
    }

    fn serialize_none(self) -> Said {
        Ok(())
    }

    fn serialize_unit(self) -> Said {
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Said {
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Said {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Said {
        value.serialize(self)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> Said {
        Err(fmt::Error)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Said {
        Err(fmt::Error)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<EmptyList, fmt::Error> {
        Ok(EmptyList)
    }

    fn serialize_tuple(self, _: usize) -> Result<EmptyList, fmt::Error> {
        Ok(EmptyList)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<EmptyList, fmt::Error> {
        Ok(EmptyList)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, fmt::Error> {
        Err(fmt::Error)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, fmt::Error> {
        Err(fmt::Error)
    }

    fn serialize_struct(
        self,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStruct, fmt::Error> {
        Err(fmt::Error)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, fmt::Error> {
        Err(fmt::Error)
    }

    fn collect_str<T: fmt::Display + ?Sized>(self, _: &T) -> Said {
        Err(fmt::Error)
    }
}

macro_rules! empty_lists {
    ($($list:ident: $method:ident),*) => {$(
        impl $list for EmptyList {
            type Ok = ();
            type Error = fmt::Error;

            fn $method<T: Serialize + ?Sized>(&mut self, _: &T) -> Said {
                Err(fmt::Error)
            }

            fn end(self) -> Said {
                Ok(())
            }
        }
    )*};
}

empty_lists!(
    SerializeSeq: serialize_element,
    SerializeTuple: serialize_element,
    SerializeTupleStruct: serialize_field
);

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use serde::Serialize;
    use serde_json::{Map, json};

    use super::*;
    use crate::answer::compact;

    fn check(value: &impl Serialize) -> Value {
        let brief = serde_json::to_value(Saying(value)).unwrap();
        assert_eq!(brief, compact(serde_json::to_value(value).unwrap()));
        let text = serde_json::to_string(&Saying(value)).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), brief);
        brief
    }

    #[derive(Serialize)]
    struct Unit;

    #[derive(Serialize)]
    struct New<T>(T);

    #[derive(Serialize)]
    struct Pair(Option<u8>, Vec<u8>);

    #[derive(Serialize)]
    enum Variants {
        Plain,
        New(Option<u8>),
        Two(Option<u8>, Vec<u8>),
        Named { a: Option<u8>, b: Vec<Option<u8>> },
    }

    #[derive(Serialize)]
    #[serde(tag = "kind", rename_all = "snake_case")]
    enum Tagged {
        One(Inner),
        Other { x: Option<u8> },
    }

    #[derive(Serialize)]
    #[serde(untagged)]
    enum Untagged {
        Number(f64),
        Fields(Inner),
    }

    #[derive(Serialize, Default)]
    struct Inner {
        none: Option<String>,
        empty: Vec<u8>,
        #[serde(skip_serializing_if = "Option::is_none")]
        skipped: Option<u8>,
        deep: Option<Box<Inner>>,
        text: String,
    }

    #[derive(Serialize)]
    struct All {
        unit: (),
        nothing: Unit,
        new: New<Option<u8>>,
        some: Option<New<Vec<u8>>>,
        number: f64,
        infinite: f64,
        small: f32,
        array: [u8; 0],
        pair: Pair,
        tuple: (Option<u8>, char),
        variants: Vec<Variants>,
        lone: Variants,
        tagged: Vec<Tagged>,
        untagged: Vec<Untagged>,
        map: BTreeMap<u8, Option<u8>>,
        empty_map: BTreeMap<String, u8>,
        value: Value,
        #[serde(flatten)]
        flat: Inner,
        #[serde(flatten)]
        rest: Map<String, Value>,
    }

    #[test]
    fn every_kind_of_value_is_what_it_would_be_without_the_fields_that_say_nothing() {
        let inner = || Inner { deep: Some(Box::default()), ..Inner::default() };
        let all = All {
            unit: (),
            nothing: Unit,
            new: New(None),
            some: Some(New(vec![])),
            number: 1.5,
            infinite: f64::INFINITY,
            small: f32::NAN,
            array: [],
            pair: Pair(None, vec![]),
            tuple: (None, 'c'),
            variants: vec![
                Variants::Plain,
                Variants::New(None),
                Variants::New(Some(1)),
                Variants::Two(None, vec![]),
                Variants::Named { a: None, b: vec![None] },
            ],
            lone: Variants::New(None),
            tagged: vec![Tagged::One(inner()), Tagged::Other { x: None }],
            untagged: vec![Untagged::Number(f64::NAN), Untagged::Fields(inner())],
            map: [(1, None), (2, Some(3))].into(),
            empty_map: BTreeMap::new(),
            value: json!({"a": null, "b": [null, [], {}], "c": {"d": []}}),
            flat: inner(),
            rest: [("x".to_owned(), json!([])), ("y".to_owned(), json!({"z": null}))]
                .into_iter()
                .collect(),
        };
        let brief = check(&all);
        assert_eq!(brief["map"], json!({"2": 3}));
        assert_eq!(brief["variants"][1], json!({}));
        assert!(brief.get("some").is_none() && brief.get("infinite").is_none());
        check(&[all]);
        check(&Variants::New(None));
        check(&None::<u8>);
        check(&Vec::<u8>::new());
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            (-999..999).prop_map(|n| Value::from(f64::from(n) / 4.0)),
            "[a-c\"é]{0,3}".prop_map(Value::from),
        ];
        leaf.prop_recursive(5, 60, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::btree_map("[a-d]{0,2}", inner, 0..5)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_value_is_what_it_would_be_without_the_fields_that_say_nothing(value in values()) {
            check(&value);
        }
    }
}
