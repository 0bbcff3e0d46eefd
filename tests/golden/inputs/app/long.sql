-- what the longest are
select name, dur from slice
order by dur desc, name limit 3;
select count(*) as n from slice;
