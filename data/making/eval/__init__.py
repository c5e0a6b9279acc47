"""How queries with known answers were made, and measurements that only this project needs."""
